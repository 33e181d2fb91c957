// Package logging writes what a proxy reports to its [proxy.Listener] as lines of a
// zap logger.
//
// It promises:
//
//   - private: no line at any level holds content or a credential.
//   - one line: a request is one line, whatever happened to it; at debug each of
//     its edits is one more.
//   - levels: a warning is something that an operator can act on; an error is a
//     fault of the proxy's own.
package logging

import (
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"laconic/compact"
	"laconic/proxy"
	"laconic/proxy/apierror"
	"laconic/proxy/summarize"
	"laconic/proxy/wire"
)

// To returns a listener that writes one line per request: "compaction" for chat
// requests, "request" for others. A line is info when something was edited,
// refused or went wrong, and debug when a request was only measured or passed;
// it is a warning when a request did not fit, a result with content was dropped,
// the upstream or the summarizer could not be reached, the upstream ended a
// stream without [DONE], the memory for bodies was used up, or a header
// x-laconic-… is not known. At debug every edit has a line of its own. Faults of our own are
// errors.
//
// Of a path only a known endpoint is named, of an edit its place, its reason and
// the id of the call.
//
// The end of the proxy is three lines of info, a warning where requests were cut.
func To(log *zap.Logger) proxy.Listener {
	return proxy.Listener{
		Rewritten: func(i proxy.RewriteInfo) {
			if log.Core().Enabled(zap.DebugLevel) {
				logEdits(log, i)
			}
		},
		Replied: func(i proxy.ReplyInfo) {
			name := "request"
			if i.Wire != "" {
				name = "compaction"
			}
			if line := log.Check(levelOf(i), name); line != nil {
				line.Write(replyFields(i)...)
			}
		},
		Ignored: func(i proxy.IgnoredInfo) {
			log.Warn("unknown header", zap.String("request_id", i.ID), zap.String("header", i.Header))
		},
		Upstream:   func(i proxy.UpstreamInfo) { logUpstream(log, i) },
		Summarized: func(i summarize.JobInfo) { logJob(log, i) },
		Erased:     func(i summarize.ErasedInfo) { logErased(log, i) },
		Stopping:   func(i proxy.StopInfo) { logStop(log, i) },
		Failed: func(i proxy.FaultInfo) {
			f := []zap.Field{zap.String("request_id", i.ID), zap.String("where", i.Where), zap.String("what", i.What)}
			if i.Peer {
				log.Warn("peer", f...)
				return
			}
			log.Error("fault", appendText(f, "stacktrace", i.Stack)...)
		},
	}
}

// logUpstream writes a line for a change of an upstream.
func logUpstream(log *zap.Logger, i proxy.UpstreamInfo) {
	f := []zap.Field{zap.String("upstream", i.Upstream)}
	switch i.Event {
	case proxy.UpstreamWithoutPath:
		log.Warn("the upstream does not have this path", append(f, zap.String("endpoint", i.Endpoint), zap.String("hint", i.Hint))...)
	case proxy.UpstreamCuts:
		text := "the upstream cuts prompts to its window without a word"
		if i.Assumed {
			text = "the upstream does not tell its window, and would cut prompts to it without a word; its default is taken"
		}
		log.Warn(text, append(f, zap.String("model", i.Model), zap.Int("window", i.Window), zap.String("hint", i.Hint))...)
	case proxy.UpstreamUp:
		log.Warn("the upstream is up", append(f, zap.Int("failures", i.Failures), zap.Duration("down", i.Down))...)
	default:
		f = appendText(append(f, zap.Int("failures", i.Failures)), "error", i.Code)
		f = appendText(f, "error_detail", i.Detail)
		log.Warn("the upstream is down", appendText(f, "why", i.Why.String())...)
	}
}

// losing reports whether what was sent lacks results that the client sent.
func losing(i proxy.ReplyInfo) bool {
	return i.Rewrite != nil && i.Rewrite.Report.ResultsDropped > 0 && i.Outcome != proxy.Shadow && i.Outcome != proxy.Rejected
}

// levelOf is the level of a reply's line. Warnings are what an operator can do
// something about. That a client left is the client's affair.
func levelOf(i proxy.ReplyInfo) zapcore.Level {
	switch i.Code {
	case apierror.CodeFault:
		return zap.ErrorLevel
	case apierror.CodeUnreachable, apierror.CodeBroke, apierror.CodeTimeout, apierror.CodeIdle, apierror.CodeProtocol, apierror.CodeOverloaded:
		return zap.WarnLevel
	case "", apierror.CodeClientLeft:
	default:
		return zap.InfoLevel
	}
	switch {
	case i.Pass != nil && i.Pass.Reason == proxy.ReasonFault:
		return zap.ErrorLevel
	case i.Outcome == proxy.Over, losing(i), i.Ended == wire.HalfEvent || i.Ended == wire.WithoutDone:
		return zap.WarnLevel
	case i.Status >= 400 && i.Status != proxy.StatusClientLeft,
		i.Retry != nil, i.Cut, i.Ended != "",
		i.Rewrite != nil && i.Rewrite.Report.Outcome != compact.Untouched,
		i.Own && (i.Outcome == proxy.Compacted || i.Outcome == proxy.Repaired), // by the service
		i.Outcome == proxy.Rejected, i.Wire != "" && i.Outcome == proxy.Passed: // why it was passed over is what an operator asks first
		return zap.InfoLevel
	}
	return zap.DebugLevel
}

func replyFields(i proxy.ReplyInfo) []zap.Field {
	f := []zap.Field{zap.String("request_id", i.ID)}
	if i.Wire == "" {
		f = append(f, zap.String("method", i.Method), zap.String("endpoint", i.Endpoint))
	}
	if i.Outcome != "" {
		f = append(f, zap.String("outcome", string(i.Outcome)))
	}
	f = appendText(f, "why", i.Why.String())
	switch {
	case i.Rewrite != nil:
		f = append(f, rewriteFields(i.Rewrite)...)
	case i.Pass != nil:
		f = append(f, zap.String("reason", i.Pass.Reason), zap.String("route", i.Pass.Route))
		f = appendText(f, "reason_detail", i.Pass.Detail)
		f = appendText(f, "tags", i.Pass.Tags)
	}
	f = appendRetry(f, i.Retry)
	f = append(f, zap.Int("status", i.Status))
	if i.Own {
		f = append(f, zap.Bool("own_answer", true))
	}
	if i.Streamed {
		f = append(f, zap.Bool("streamed", true))
		if !i.Unread {
			f = append(f, zap.Bool("done", i.Done))
		}
	}
	if u := i.Usage; u != nil {
		f = append(f, zap.Int("prompt_tokens", u.Prompt), zap.Int("completion_tokens", u.Completion), zap.Int("cached_tokens", u.Cached))
	}
	if i.Cut {
		f = append(f, zap.Bool("prompt_cut_by_upstream", true))
	}
	f = appendText(f, "ended", i.Ended)
	f = append(f, zap.Int64("answer_bytes", i.Bytes))
	if i.FirstByte > 0 {
		f = append(f, zap.Duration("first_byte", i.FirstByte))
	}
	f = append(f, zap.Duration("duration", i.Duration))
	f = appendText(f, "error", i.Code)
	return appendText(f, "error_detail", i.Detail)
}

func rewriteFields(i *proxy.RewriteInfo) []zap.Field {
	r := &i.Report
	f := appendText(nil, "request_kind", i.Kind)
	f = append(f,
		zap.String("model", i.Model), zap.String("route", i.Route), zap.String("policy", i.Policy),
		zap.Int("tokens_before", r.Before), zap.Int("tokens_after", r.After), zap.Int("budget", r.Budget),
		zap.Int("tools_tokens", r.Fixed), zap.Int("instructions_tokens", r.Parts.Instructions), zap.Int("task_tokens", r.Parts.Task),
		zap.Int("messages_before", r.MessagesBefore), zap.Int("messages_after", r.MessagesAfter),
		zap.Int("epochs", r.Epochs), zap.Int("repairs", r.Repairs),
		zap.Int("bytes_before", i.BytesBefore), zap.Int("bytes_after", i.BytesAfter),
		zap.Duration("overhead", i.Overhead),
	)
	if r.ResultsDropped > 0 {
		f = append(f, zap.Int("results_dropped", r.ResultsDropped))
	}
	if len(r.Stages) > 0 {
		f = append(f, zap.Array("stages", stageLines(r.Stages)), zap.String("strategy", r.Strategy))
	}
	if i.PinsUnmatched > 0 {
		f = append(f, zap.Int("pins_unmatched", i.PinsUnmatched))
	}
	if r.NotEnough {
		f = append(f, zap.Bool("not_enough_history", true))
	}
	if c := i.Counted; c.Hits+c.Misses > 0 {
		f = append(f, zap.Dict("counted", zap.Int("hits", c.Hits), zap.Int("misses", c.Misses)))
	}
	if i.Told.Window > 0 {
		f = append(f, zap.Int("discovered_window", i.Told.Window))
	}
	if i.Told.Input > 0 {
		f = append(f, zap.Int("discovered_input", i.Told.Input))
	}
	f = appendLearnt(f, &i.Facts, i.Decisive)
	return appendText(append(f, summaryFields(i.Summary)...), "tags", i.Tags)
}

func appendText(f []zap.Field, key, value string) []zap.Field {
	if value == "" {
		return f
	}
	return append(f, zap.String(key, value))
}

// stageLines writes the stages of a report.
type stageLines []compact.StageReport

// MarshalLogArray writes one object per stage.
func (s stageLines) MarshalLogArray(out zapcore.ArrayEncoder) error {
	for _, r := range s {
		err := out.AppendObject(zapcore.ObjectMarshalerFunc(func(o zapcore.ObjectEncoder) error {
			o.AddString("stage", r.Name)
			o.AddInt("edits", r.Edits)
			o.AddInt("saved", r.Saved)
			return nil
		}))
		if err != nil {
			return err
		}
	}
	return nil
}

func logEdits(log *zap.Logger, i proxy.RewriteInfo) {
	for n := range i.Edits {
		e := &i.Edits[n]
		f := []zap.Field{
			zap.String("request_id", i.ID), zap.String("op", string(e.Op)), zap.String("stage", e.Stage), zap.String("why", e.Why),
			zap.Int("message", e.Origin), zap.Int("part", e.Part), zap.Int("saved", e.Saved), zap.Int("epoch", e.Epoch),
		}
		if e.Op == compact.OpRemove {
			f = append(f, zap.Int("messages", e.End-e.At))
		}
		log.Debug("edit", appendText(f, "id", apierror.Clip(e.ID, 64))...)
	}
}
