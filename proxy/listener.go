package proxy

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"laconic/compact"
	"laconic/proxy/apierror"
	"laconic/proxy/learn"
	"laconic/proxy/summarize"
	"laconic/proxy/why"
	"laconic/proxy/wire"
	"laconic/view"
)

// Outcome says in one word what happened to a request.
type Outcome string

// The outcomes, the values of x-laconic-outcome. The first four are compact's.
const (
	Untouched = Outcome(compact.Untouched) // measured; went out as it came
	Repaired  = Outcome(compact.Repaired)  // its pairs were made legal
	Compacted = Outcome(compact.Compacted) // it outgrew its budget and was compacted
	Retried   = Outcome("retried")         // refused by the upstream at first, and answered when sent again
	Refused   = Outcome("refused")         // refused by the upstream, and not answered when sent again either
	Over      = Outcome(compact.Over)      // still above its budget, forwarded all the same
	Shadow    = Outcome("shadow")          // measured only, because the client or the route asks for that
	Bypassed  = Outcome("bypassed")        // not even measured, because the client or the route asks for that
	Passed    = Outcome("passed")          // forwarded unread
	Rejected  = Outcome("rejected")        // refused by the proxy
)

// Done reports whether what was planned for a request was sent.
func (o Outcome) Done() bool { return o != Shadow && o != Rejected }

// Listener is told what happened to requests. Nil funcs are silent. They are
// called from the goroutines of requests, many at once, and hold the request
// up for as long as they take.
type Listener struct {
	// Rewritten: a chat request was read and its plan made; it is about to be
	// sent, or refused for its size.
	Rewritten func(ReplyInfo)
	// Planned: the plan of a request, in full, before Rewritten; and that of a second
	// send. nil costs nothing.
	Planned func(PlanInfo)
	// Passed: a request is about to be forwarded unread.
	Passed func(ReplyInfo)
	// Replied: a request is over. It is called exactly once for every request,
	// whatever happened to it.
	Replied func(ReplyInfo)
	// Upstream: requests showed that an upstream is down, or up again, or that
	// its base URL is wrong.
	Upstream func(UpstreamInfo)
	// Summarized: an attempt at a summary ended. It has a goroutine of its
	// own, and may come long after its request, or after several.
	Summarized func(summarize.JobInfo)
	// Erased: summaries were erased here because another process that shares the store
	// was asked to. It has a goroutine of its own.
	Erased func(summarize.ErasedInfo)
	// Ignored: a request had a header x-laconic-… that there is not.
	Ignored func(IgnoredInfo)
	// Stopping: Serve was told to stop, and then each step of its end, in their order.
	Stopping func(StopInfo)
	// Failed: something of our own broke. The request goes on with the
	// client's own bytes where that is possible.
	Failed func(FaultInfo)
}

// RewriteInfo is what was decided about one chat request.
type RewriteInfo struct {
	Model  string // as the client wrote it, at most 128 bytes
	Policy string
	// Kind names a request that an agent has its own history summarized by:
	// "compaction of opencode"; "" for any other.
	Kind string
	// PinsUnmatched is how many indices of x-laconic-pin name no message.
	PinsUnmatched int
	Stream        bool
	Outcome       Outcome
	Report        compact.Report
	// Why is why it is above its budget; nothing where it is not.
	Why why.Reason
	// NewEpoch: an epoch began with this request, so what the upstream has in its
	// prompt cache of the request before ends where this one differs.
	NewEpoch bool
	// Summary is what became of the slot; nil where there was none, or no
	// summarizer.
	Summary *summarize.Info
	// Edits are set for Rewritten only. Their texts are content and point into
	// the request's body: a listener must not keep them, nor write them down.
	Edits []compact.Edit
	// Facts are what was known of the model when the plan was made.
	Facts learn.Facts
	// Decisive names those of them without which the plan would be another.
	Decisive []string
	// Published is what the upstream tells of the model; nothing where its window is
	// configured.
	Published compact.Published
	// BytesBefore and BytesAfter are the sizes of the body, decompressed.
	BytesBefore, BytesAfter int
	// Overhead is the time from the body's last byte to its sending.
	Overhead time.Duration
}

// ReplyInfo is how one request ended, or what is known of it before.
type ReplyInfo struct {
	ID               string // as in x-laconic-request-id
	Wire             string // the name of the API that its body is written in; "": the endpoint has none
	Method, Endpoint string // Endpoint is one of the API's paths without /v1; "" where it is not known
	Client           string // the name of the client key that it came with; "": there are none
	// Rewrite is set when a chat request was measured, Passed when a request was
	// forwarded unread; neither, and no Route or Tags, when it was refused before.
	Rewrite *RewriteInfo
	// Passed is why, in a word: "route" for what is no chat request, "mode" for what
	// was to be left alone, "small" for what is below Route.MinBody, "encoding", "empty" for a list of messages
	// that says nothing, "fault", or a wire.Code.
	Passed       string
	PassedDetail string // for the operator; holds no content
	Route        string // the pattern that chose the route
	Tags         string // of x-laconic-tags
	Outcome      Outcome
	// Why is why it went so, and what to do; nothing where there is nothing to explain.
	Why why.Reason
	// Retry is set when the upstream refused the request for a reason that a
	// second send may cure, whether there was one or not.
	Retry *RetryInfo
	// Status is what the client got: the upstream's status, or ours if Own.
	// 499 when the client left before the answer's end.
	Status int
	Own    bool
	// Unsent: no upstream got the request. None answered, and none took the last
	// byte of its body.
	Unsent bool
	// Code says what went wrong in a word, "" when nothing did; Detail says
	// more for the operator and holds neither content nor credentials.
	Code, Detail string
	// Streamed: the answer was an event stream. Done: its [DONE] was seen.
	// Unread: nobody looked, or could; Done and Usage say nothing then.
	Streamed, Done, Unread bool

	Bytes int64       // of the answer's body
	Usage *wire.Usage // nil when the answer told none that could be read
	// Cut: the upstream counted so much less than was sent that it cannot have read the
	// whole prompt, and did not say so.
	Cut bool
	// Ended says in a word what the end of an answer under 200 shows: that the
	// window was full ("context_window" by the finish reason,
	// "length_without_output", "without_output" of a stream), or that the
	// upstream ended a stream that is not complete ("without_done",
	// "half_event"). "" when it shows nothing.
	Ended string
	// FirstByte and Duration count from the request's headers; FirstByte is 0
	// when nothing came.
	FirstByte, Duration time.Duration
	Steps               Steps
	// AnsweredBy is the model that the answer names, "" where that is not known: of a
	// long answer that is no stream. The upstream wrote it; it may have any length.
	AnsweredBy string
}

// FaultInfo is a fault of our own: a recovered panic, or an edit that cannot be
// written, which has no Stack. It holds the place of the fault, never what was
// being read.
type FaultInfo struct {
	ID    string // "" when no single request is concerned
	Where string
	What  string
	Stack string
	// Peer: the other side of a connection did something wrong, and nothing broke.
	Peer bool
}

// Tee is a Listener that tells several, in their order. Listeners break nothing: a func
// that panics is reported to Failed, and the request goes on.
func Tee(ls ...Listener) Listener {
	t := Listener{
		Rewritten:  tee(ls, func(l *Listener) func(ReplyInfo) { return l.Rewritten }),
		Planned:    tee(ls, func(l *Listener) func(PlanInfo) { return l.Planned }),
		Passed:     tee(ls, func(l *Listener) func(ReplyInfo) { return l.Passed }),
		Replied:    tee(ls, func(l *Listener) func(ReplyInfo) { return l.Replied }),
		Upstream:   tee(ls, func(l *Listener) func(UpstreamInfo) { return l.Upstream }),
		Summarized: tee(ls, func(l *Listener) func(summarize.JobInfo) { return l.Summarized }),
		Erased:     tee(ls, func(l *Listener) func(summarize.ErasedInfo) { return l.Erased }),
		Ignored:    tee(ls, func(l *Listener) func(IgnoredInfo) { return l.Ignored }),
		Stopping:   tee(ls, func(l *Listener) func(StopInfo) { return l.Stopping }),
		Failed:     tee(ls, func(l *Listener) func(FaultInfo) { return l.Failed }),
	}
	if !slices.ContainsFunc(ls, func(l Listener) bool { return l.Planned != nil }) {
		t.Planned = nil
	}
	return t
}

// tee returns what calls one func of several listeners.
func tee[Info any](ls []Listener, which func(*Listener) func(Info)) func(Info) {
	return func(i Info) {
		for n := range ls {
			f, failed := which(&ls[n]), ls[n].Failed
			if f == nil {
				continue
			}
			func() {
				defer func() {
					if v := recover(); v != nil && failed != nil {
						defer func() { _ = recover() }() // it fails at failing
						failed(FaultInfo{Where: "listener", What: panicText(v), Stack: string(debug.Stack())})
					}
				}()
				f(i)
			}()
		}
	}
}

// panicText describes the value of a panic. It may hold what was being read,
// so it is shown only where it cannot.
func panicText(v any) string {
	switch v := v.(type) {
	case runtime.Error:
		return v.Error()
	case string:
		if strings.HasPrefix(v, "BUG:") {
			return apierror.Clip(v, 200)
		}
	}
	return fmt.Sprintf("panic of type %T", v)
}

// StopStep is a step of the end of Serve, in a word.
type StopStep string

// The steps of the end, in their order.
const (
	StopBegun  StopStep = "told"   // Serve goes on taking requests for Limits.Drain
	StopClosed StopStep = "closed" // its listener is closed; open answers have Limits.Shutdown
	StopEnded  StopStep = "ended"  // no request is left, and no work in the background
)

// StopInfo is a step of the end of Serve.
type StopInfo struct {
	Step StopStep
	// Why is the cause of the context that told Serve to stop; "" where it has none.
	Why string
	// Within is the time that the next step is to come in: Limits.Drain, then
	// Limits.Shutdown.
	Within time.Duration
	// Requests are those that are not over, Streams those of them whose answer is a
	// stream of events that has begun.
	Requests, Streams int
	// Cut is how many requests were cut at the end of Limits.Shutdown.
	Cut int
	// Duration is the time since Serve was told to stop.
	Duration time.Duration
}

// PlanInfo is one plan in full: what a client sent, and what is sent in its place.
// All of it but ID, From and Again is content, or is made of it, and points into
// the request's body: a listener must not keep it.
type PlanInfo struct {
	ID   string
	From Sender
	// Again: the upstream refused the body of the plan before, and gets the one of
	// this plan.
	Again bool
	// Planned has as Sent what would be sent, where nothing of the plan is done.
	view.Planned
	// Body is the client's, decompressed, SentBody the one that is sent; the same
	// slice where nothing was done.
	Body, SentBody []byte
}

// Sender names who sent a request, and shows nothing of a credential.
type Sender struct {
	// Key is the name of the client key; "" where there are none.
	Key string
	// Credential is a keyed hash of the headers that hold credentials; the zero Key
	// where there are none.
	Credential learn.Key
}
