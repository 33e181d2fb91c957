package summarize

import (
	"net/http"
	"net/url"
	"testing"

	"laconic/compact"
)

// TestDigestIsMadeOnceForEachClient: the same history needs the same text at
// every turn; a changed word, a changed edit or another credential makes it
// anew.
func TestDigestIsMadeOnceForEachClient(t *testing.T) {
	s := New(nil, Environment{})
	base := func() (http.Header, compact.Conversation, compact.Plan) {
		in := compact.Conversation{Messages: []compact.Message{
			{Role: compact.User, Parts: []compact.Part{{Text: compact.Plain("go")}}},
			{Role: compact.Assistant, Parts: []compact.Part{{Text: compact.Plain("first")}}},
			{Role: compact.Assistant, Parts: []compact.Part{{Text: compact.Plain("later")}}},
		}}
		plan := compact.Plan{
			Edits: []compact.Edit{{Op: compact.OpRemove, At: 1, End: 2}},
			Slot:  &compact.Slot{From: 1, To: 2, End: 2, Sources: 2, Size: 100},
		}
		return http.Header{"Authorization": {"Bearer a"}}, in, plan
	}
	fill := func(text string, change func(http.Header, *compact.Conversation, *compact.Plan)) string {
		h, in, plan := base()
		change(h, &in, &plan)
		plan.Slot.Text = text
		text, info := s.Text(t.Context(), &Request{Header: h, Upstream: &url.URL{}, Policy: "adaptive", Budget: compact.Budget{Tokens: 10}}, in, &plan)
		if info != nil {
			t.Errorf("without a model: %+v", info)
		}
		return text
	}
	same := func(http.Header, *compact.Conversation, *compact.Plan) {}
	if got := fill("one", same); got != "one" {
		t.Fatalf("got %q", got)
	}
	f := func(name, want string, change func(http.Header, *compact.Conversation, *compact.Plan)) {
		t.Helper()
		if got := fill("new", change); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	f("the same again", "one", same)
	f("a later message", "one", func(_ http.Header, in *compact.Conversation, _ *compact.Plan) {
		in.Messages[2].Parts[0].Text = compact.Plain("else")
	})
	f("another header", "one", func(h http.Header, _ *compact.Conversation, _ *compact.Plan) { h.Set("X-Trace", "1") })
	f("another credential", "new", func(h http.Header, _ *compact.Conversation, _ *compact.Plan) {
		h.Set("Authorization", "Bearer b")
	})
	f("one word", "new", func(_ http.Header, in *compact.Conversation, _ *compact.Plan) {
		in.Messages[1].Parts[0].Text = compact.Plain("fists")
	})
	f("one edit", "new", func(_ http.Header, _ *compact.Conversation, p *compact.Plan) { p.Edits[0].End = 1 })
	f("the size", "new", func(_ http.Header, _ *compact.Conversation, p *compact.Plan) { p.Slot.Size = 99 })
}
