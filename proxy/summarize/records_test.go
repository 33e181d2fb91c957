package summarize

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/compact/policy"
	"laconic/proxy/wire/wiretest"
)

// asking is a request of one client.
func asking() *Request {
	return &Request{Header: http.Header{"Authorization": {"Bearer a"}}, Upstream: &url.URL{Host: "u"}, Policy: "adaptive", Counting: "m"}
}

// records is a Records of [compact.Policy].
type records = func(compact.Digester, compact.Counter, func() bool) compact.Recorder

func waits() bool { return false }

// echo is a stage whose records say what they were told, and count how often.
type echo struct{ asked *int }

func (echo) Name() string          { return "echo" }
func (echo) Shrink(*compact.Draft) {}

func (e echo) Record(compact.Counter, func() bool) compact.Recorder {
	all := ""
	return compact.Recorder(func(lost, kept []compact.Message, size int, anew bool) string {
		*e.asked++
		for _, list := range [][]compact.Message{lost, kept} {
			for i := range list {
				all += list[i].Parts[0].Text.String() + " "
			}
			all += "| "
		}
		all += fmt.Sprint(size, anew, "; ")
		return all
	})
}

// TestARecordIsAskedOnceForEachClient: the same calls have the same texts; a word,
// a size, the order, another client, and all that follows is asked anew.
func TestARecordIsAskedOnceForEachClient(t *testing.T) {
	s := New(nil, Environment{})
	type call struct {
		lost, kept []string
		size       int
		anew       bool
		// The bytes of what left, and of what stays; 0: they were not hashed.
		lostBytes, keptBytes uint64
	}
	msgs := func(texts []string, bytes uint64) (all []compact.Message) {
		for _, text := range texts {
			edited := strings.ToLower(text) != text // with the origin of the lower case
			var sum compact.Sum
			if bytes > 0 {
				sum.Hash = [2]uint64{uint64(text[0]), bytes}
			}
			all = append(all, compact.Message{Role: compact.User, Origin: int(text[0] | 0x20), Edited: edited, Sum: sum, Parts: []compact.Part{{Text: compact.Plain(text)}}})
		}
		return all
	}
	say := func(by records, calls []call) (texts []string, asked int) {
		rec := by(echo{&asked}, nil, waits)
		for _, c := range calls {
			texts = append(texts, rec(msgs(c.lost, c.lostBytes), msgs(c.kept, c.keptBytes), c.size, c.anew))
		}
		return texts, asked
	}
	calls := func() []call {
		return []call{
			{lost: []string{"a", "b"}, kept: []string{"c"}, size: 10, anew: true},
			{lost: []string{"c"}, kept: []string{"d", "e"}, size: 20},
			{size: 30, anew: true},
		}
	}
	f := func(name string, asked int, change func(*Request, []call)) {
		t.Helper()
		r, list := asking(), calls()
		change(r, list)
		want, _ := say(compact.Digester.Record, list)
		got, n := say(s.Records(r), list)
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
		if n != asked {
			t.Errorf("%s: %d calls, want %d", name, n, asked)
		}
		if again, n := say(s.Records(r), list); !slices.Equal(again, want) || n != 0 {
			t.Errorf("%s, again: %d calls, %q", name, n, again)
		}
	}
	f("the first", 3, func(*Request, []call) {})
	f("another header", 0, func(r *Request, _ []call) { r.Header.Set("X-Trace", "1") })
	f("another credential", 3, func(r *Request, _ []call) { r.Header.Set("Authorization", "Bearer b") })
	f("another policy", 3, func(r *Request, _ []call) { r.Policy = "other" })
	f("another counter", 3, func(r *Request, _ []call) { r.Counting = "n" })
	f("another upstream", 3, func(r *Request, _ []call) { r.Upstream = &url.URL{Host: "v"} })
	f("one of the first call", 3, func(_ *Request, c []call) { c[0].lost[1] = "x" })
	f("one that stays", 3, func(_ *Request, c []call) { c[1].kept[0] = "b" })
	f("one that stays, but edited", 3, func(_ *Request, c []call) { c[1].kept[0] = "B" })
	f("one that stays and not leaves", 3, func(_ *Request, c []call) { c[0].lost, c[0].kept = c[0].lost[:1], []string{"b", "c"} })
	f("the size of the last call", 3, func(_ *Request, c []call) { c[2].size = 31 })
	f("hashed bytes", 3, func(_ *Request, c []call) { c[0].lostBytes = 1 })
	f("other bytes of what left", 3, func(_ *Request, c []call) { c[0].lostBytes = 2 })
	f("other bytes of what stays: a marker moved", 0, func(_ *Request, c []call) { c[0].lostBytes, c[1].keptBytes = 2, 1 })
	f("anew", 3, func(_ *Request, c []call) { c[1].anew = true })
}

// TestRecordsMayForgetAtAnyTime: whatever is remembered, and whenever it is
// dropped, a plan is the same; and a conversation that was seen before is not
// digested again.
func TestRecordsMayForgetAtAnyTime(t *testing.T) {
	s := New(nil, Environment{})
	coin := rand.New(rand.NewPCG(1, 2))
	counter := compact.BytesPerToken(3.5)
	plain, err := policy.New("adaptive", nil)
	if err != nil {
		t.Fatal(err)
	}
	slots, spans, asked, every := 0, 0, 0, 5
	if testing.Short() {
		every = 17
	}
	for _, c := range wiretest.Conversations(t) {
		if !c.Own {
			continue
		}
		b := compact.Limits{Budget: max(2000, compact.CostAll(counter, c.Messages)/6)}.For(0)
		for n, k := range compacttest.RequestPoints(c.Messages) {
			if n%every > 0 {
				continue
			}
			in := compact.Conversation{Messages: c.Messages[:k]}
			for _, summaries := range []bool{false, true} {
				with := func(records records) (*compact.Slot, compact.Report) {
					p := *plain
					p.Summaries, p.Records = summaries, records
					plan, r := compact.Compact(in, &p, counter, b)
					return plan.Slot, r
				}
				want, report := with(nil)
				if want == nil {
					continue
				}
				slots, spans = slots+1, max(spans, len(want.Spans))
				remembering := s.Records(asking())
				f := func(how string, records records) {
					t.Helper()
					got, r := with(records)
					if got == nil || !reflect.DeepEqual(got.Spans, want.Spans) || !slices.Equal(got.Texts(nil), want.Texts(nil)) || r.After != report.After {
						t.Fatalf("%s, %d messages, %s: another slot", c.ID, k, how)
					}
				}
				f("remembered", remembering)
				f("seen before", func(by compact.Digester, c compact.Counter, left func() bool) compact.Recorder {
					return remembering(counted{by, &asked}, c, left)
				})
				f("forgetting", func(by compact.Digester, c compact.Counter, left func() bool) compact.Recorder {
					rec := s.Records(asking())(by, c, left)
					return compact.Recorder(func(lost, kept []compact.Message, size int, anew bool) string {
						if coin.IntN(2) == 0 {
							s.texts.InvalidateAll()
						}
						return rec(lost, kept, size, anew)
					})
				})
			}
		}
	}
	if asked > 0 {
		t.Errorf("%d texts were made again", asked)
	}
	if slots < 250/every || spans < 3 {
		t.Errorf("%d slots, %d spans at most: this tests nothing", slots, spans)
	}
}

// counted counts what a digester's records are asked.
type counted struct {
	compact.Digester
	asked *int
}

func (c counted) Record(counter compact.Counter, left func() bool) compact.Recorder {
	rec := c.Digester.Record(counter, left)
	return compact.Recorder(func(lost, kept []compact.Message, size int, anew bool) string {
		*c.asked++
		return rec(lost, kept, size, anew)
	})
}
