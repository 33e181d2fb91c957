package proxy

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"laconic/compact"
	"laconic/proxy/apierror"
	"laconic/proxy/body"
	"laconic/proxy/wire"
)

// reasonCompaction: an upstream does not know the item that asks for a compaction.
const reasonCompaction = "compaction"

// sealPrefix begins every sealed record, and names its version.
const sealPrefix = "laconic1."

// unopened stands in the place of a compaction that cannot be opened.
const unopened = "[A record of what came before stood here. It cannot be read any more.]"

// sealedFor returns what a sealed record is bound to.
func (x *request) sealedFor() []string {
	return []string{"compaction", x.route.Upstream.String(), x.settings.keys.Owner(x.r.Header)}
}

// open returns the record that was sealed for the sender of a request, or what stands
// in its place.
func (x *request) open(sealed string) string {
	if s := x.settings.Store; s.Lasts() {
		if text, ok := s.OpenText(strings.TrimPrefix(sealed, sealPrefix), x.sealedFor()...); ok {
			x.records = append(x.records, text)
			return text
		}
	}
	x.p.listener.Failed(FaultInfo{
		ID: x.info.ID, Where: "compaction", Peer: true,
		What: "a record that was sealed for this client, another one, or under another secret cannot be opened; one line stands in its place",
	})
	return unopened
}

// unknownItem are what refusals say of the item that asks for a compaction: most name
// it, and llama.cpp does not.
var unknownItem = []string{"compaction_trigger", "Cannot determine type of 'item'"}

// knowsNoCompaction reports whether an answer refuses the item that asks for a
// compaction. It puts back what it reads.
func knowsNoCompaction(res *http.Response) bool {
	switch res.StatusCode {
	case http.StatusNotFound:
		return apierror.NoPath(res)
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		said := apierror.Start(res)
		return slices.ContainsFunc(unknownItem, func(word string) bool { return bytes.Contains(said, []byte(word)) })
	}
	return false
}

// compaction answers a request for a compaction in the place of an upstream that does
// not know what asks for it: with one item that holds a sealed record. nil: the
// upstream's answer is the client's.
func (a *attempt) compaction(res *http.Response) (own *http.Response) {
	c := a.c
	if x := c.x; !c.seals || !x.settings.Store.Lasts() || body.Encoding(res.Header) != "" || !knowsNoCompaction(res) {
		return nil
	}
	_ = c.x.try("compaction", func() {
		if record := a.record(); record != "" {
			_ = res.Body.Close()
			own = c.x.compacted(res, a, record)
		}
	})
	return own
}

// mostRecord is the most that a record costs, in tokens, and recordShare the share of
// what it stands for: a client that compacts believes in a window of its own, of which
// nothing is known but that this nearly fills it. A record of roomyRecord is small for all.
const (
	mostRecord  = 16_000
	roomyRecord = 1000
	recordShare = 4
)

// record returns what is to stand for a conversation: the records that it began with,
// and one of all else that the client does not keep. It keeps instructions and the
// words of its user.
func (a *attempt) record() string {
	c := a.c
	i := slices.IndexFunc(c.Policy.Ladder, compact.Digests)
	defer c.x.call.body.WasRead()
	in := c.x.call.body.ReadAgain(c.x.r.Context())
	if in == nil || i < 0 {
		return ""
	}
	req, _, _ := c.x.decodeText(in)
	if req == nil {
		return ""
	}
	msgs := req.Conversation.Messages
	var lost, kept []compact.Message
	for _, m := range msgs[:len(msgs)-1] {
		switch {
		case m.Role == compact.User && len(m.Parts) == 1 && slices.Contains(c.x.records, m.Parts[0].Text.String()):
		case m.Role == compact.User || m.Role.Instruction():
			kept = append(kept, m)
		default:
			lost = append(lost, m)
		}
	}
	counter := c.WayOf(&a.Facts)
	size := min(mostRecord, a.Budget.Tokens/recordShare, max(roomyRecord, (a.Report.Before-a.Report.Fixed)/recordShare))
	before := newest(strings.Join(c.x.records, "\n"), counter, size/2)
	now := c.Policy.Ladder[i].(compact.Digester).Record(counter, c.Left)(lost, kept, size-compact.CostText(counter, before), true)
	return strings.TrimSpace(before + "\n" + strings.TrimSpace(now))
}

// newest returns the last lines of a text that cost at most size tokens.
func newest(text string, c compact.Counter, size int) string {
	const head = "[What came before this was left out.]\n"
	if compact.CostText(c, text) <= size {
		return text
	}
	for compact.CostText(c, head+text) > size {
		_, rest, ok := strings.Cut(text[len(text)/8:], "\n")
		if !ok {
			return ""
		}
		text = rest
	}
	return head + text
}

// compacted returns the answer that holds a record.
func (x *request) compacted(to *http.Response, a *attempt, record string) *http.Response {
	i := a.startRetryInfo(reasonCompaction)
	i.Why, i.Status = "here", http.StatusOK
	x.attempt = nil // nothing is learnt from an answer of ours
	kind, text := wire.Seal{
		ID: x.info.ID, Model: a.info.Model, Text: sealPrefix + x.settings.Store.SealText(record, x.sealedFor()...),
		Created: time.Now().Unix(), Stream: a.info.Stream,
		Prompt: a.Report.After, Tokens: compact.CostText(a.c.Counter, record),
	}.Answer()
	return ownAnswer(to, kind, text)
}
