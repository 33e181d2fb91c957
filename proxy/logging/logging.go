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
	"reflect"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"

	"laconic/compact"
	"laconic/proxy"
	"laconic/proxy/apierror"
	"laconic/proxy/operate"
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
		Rewritten: func(i proxy.ReplyInfo) {
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
				line.Write(replyFields(&i)...)
			}
		},
		Ignored: func(i proxy.IgnoredInfo) {
			log.Warn("unknown header", zap.String("request_id", i.ID), zap.String("header", i.Header))
		},
		Upstream:   func(i proxy.UpstreamInfo) { logUpstream(log, i) },
		Summarized: func(i summarize.JobInfo) { logJob(log, i) },
		Erased: func(i summarize.ErasedInfo) {
			f := with("asked", "another replica", "texts", i.Remembered, "summaries", i.Stored)
			if i.Failed {
				log.Warn("summaries were not all erased: the store failed", f...)
				return
			}
			log.Info("summaries were erased", f...)
		},
		Stopping: func(i proxy.StopInfo) { logStop(log, i) },
		Failed: func(i proxy.FaultInfo) {
			f := with("request_id", i.ID, "where", i.Where, "what", i.What)
			if i.Peer {
				log.Warn("peer", f...)
				return
			}
			log.Error("fault", f.and("stacktrace", i.Stack)...)
		},
	}
}

// logUpstream writes a line for a change of an upstream.
func logUpstream(log *zap.Logger, i proxy.UpstreamInfo) {
	f := with("upstream", i.Upstream)
	switch i.Event {
	case operate.WithoutPath:
		log.Warn("the upstream does not have this path", f.with("endpoint", i.Endpoint, "hint", i.Hint)...)
	case operate.Cuts:
		text := "the upstream cuts prompts to its window without a word"
		if i.Assumed {
			text = "the upstream does not tell its window, and would cut prompts to it without a word; its default is taken"
		}
		log.Warn(text, f.with("model", i.Model, "window", i.Window, "hint", i.Hint)...)
	case operate.Up:
		log.Warn("the upstream is up", f.with("failures", i.Failures, "down", i.Down)...)
	default:
		log.Warn("the upstream is down", f.with("failures", i.Failures).and("error", i.Code, "error_detail", i.Detail, "why", i.Why.String())...)
	}
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
	case i.Passed == proxy.ReasonFault:
		return zap.ErrorLevel
	case i.Rewrite != nil && i.Rewrite.Report.ResultsDropped > 0 && i.Outcome.Done(), // results are lost
		i.Outcome == proxy.Over, i.Outcome == proxy.Refused, i.Ended == wire.HalfEvent || i.Ended == wire.WithoutDone:
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

// fields are those of a line.
type fields []zap.Field

// with returns values behind their keys.
func with(pairs ...any) fields { return fields(nil).with(pairs...) }

// with adds values behind their keys.
func (f fields) with(pairs ...any) fields {
	for n := 0; n < len(pairs); n += 2 {
		f = append(f, zap.Any(pairs[n].(string), pairs[n+1]))
	}
	return f
}

// and adds those that are not zero.
func (f fields) and(pairs ...any) fields {
	for n := 0; n < len(pairs); n += 2 {
		if !reflect.ValueOf(pairs[n+1]).IsZero() {
			f = f.with(pairs[n], pairs[n+1])
		}
	}
	return f
}

func replyFields(i *proxy.ReplyInfo) fields {
	f := with("request_id", i.ID).and("api", i.Wire)
	if i.Wire == "" {
		f = f.with("method", i.Method, "endpoint", i.Endpoint)
	}
	f = f.and("outcome", string(i.Outcome), "why", i.Why.String())
	switch {
	case i.Rewrite != nil:
		f = f.rewrite(i.Rewrite, i.Route).and("tags", i.Tags)
	case i.Passed != "":
		f = f.with("reason", i.Passed, "route", i.Route).and("reason_detail", i.PassedDetail, "tags", i.Tags)
	}
	f = f.retry(i.Retry).with("status", i.Status).and("own_answer", i.Own, "streamed", i.Streamed)
	if i.Streamed && !i.Unread {
		f = f.with("done", i.Done)
	}
	if u := i.Usage; u != nil {
		f = f.with("prompt_tokens", u.Prompt, "completion_tokens", u.Completion, "cached_tokens", u.Cached)
	}
	f = f.and("prompt_cut_by_upstream", i.Cut, "ended", i.Ended).with("answer_bytes", i.Bytes).and("first_byte", i.FirstByte)
	return f.with("duration", i.Duration).and("error", i.Code, "error_detail", i.Detail)
}

func (f fields) rewrite(i *proxy.RewriteInfo, route string) fields {
	r, l := &i.Report, &i.Facts
	f = f.and("request_kind", i.Kind).with(
		"model", i.Model, "route", route, "policy", i.Policy,
		"tokens_before", r.Before, "tokens_after", r.After, "budget", r.Budget,
		"tools_tokens", r.Fixed, "instructions_tokens", r.Parts.Instructions, "task_tokens", r.Parts.Task,
		"messages_before", r.MessagesBefore, "messages_after", r.MessagesAfter, "epochs", r.Epochs, "repairs", r.Repairs,
		"bytes_before", i.BytesBefore, "bytes_after", i.BytesAfter, "overhead", i.Overhead,
	).and("results_dropped", r.ResultsDropped)
	if len(r.Stages) > 0 {
		stages := make([]zapcore.ObjectMarshaler, len(r.Stages))
		for n, s := range r.Stages {
			stages[n] = zap.DictObject(zap.String("stage", s.Name), zap.Int("edits", s.Edits), zap.Int("saved", s.Saved))
		}
		f = append(f, zap.Objects("stages", stages)).with("strategy", r.Strategy)
	}
	f = f.and("pins_unmatched", i.PinsUnmatched, "not_enough_history", r.NotEnough)
	f = f.and(
		"discovered_window", i.Published.Window, "discovered_input", i.Published.Input,
		"learnt_window", l.Window.Value, "learnt_input", l.Input.Value, "learnt_bytes", l.Bytes.Value,
		"learnt_messages", l.Messages.Value, "learnt_hard", l.Hard.Value, "count_way", l.Count.Value.Way,
	)
	if p := l.Percent(); p != 100 {
		f = f.with("count_percent", p)
	}
	f = f.and("learnt_decisive", i.Decisive)
	if s := l.Demands.Value; s != 0 {
		f = f.with("shape", s.String())
	}
	if s := i.Summary; s != nil {
		f = f.with("summary", s.Outcome, "summary_model", s.Model, "summary_spans", s.Spans, "summary_digests", s.Digests).
			and("summary_reason", s.Reason, "summary_wait", s.Duration)
	}
	return f
}

// retry adds why the upstream refused a request, and what became of the second send.
func (f fields) retry(i *proxy.RetryInfo) fields {
	if i == nil {
		return f
	}
	f = f.with("retry", i.Reason, "retry_sent", i.Sent).and("retry_not_sent", i.Why, "template", i.Template)
	if !i.Answered {
		f = f.and("hint", i.Hint)
	}
	if i.Sent {
		f = f.with("retry_answered", i.Answered, "retry_status", i.Status, "tokens_first", i.First, "tokens_second", i.Second).and("retry_then", i.Then)
	}
	if i.Form == "" {
		return f
	}
	return f.with("refusal", i.Kind, "refusal_shape", i.Form).
		and("upstream_limit", i.Limit, "upstream_prompt_tokens", i.Prompt, "upstream_answer_tokens", i.Output)
}

func logEdits(log *zap.Logger, i proxy.ReplyInfo) {
	for n := range i.Rewrite.Edits {
		e := &i.Rewrite.Edits[n]
		f := with("request_id", i.ID, "op", string(e.Op), "stage", e.Stage, "why", e.Why, "message", e.Origin, "part", e.Part, "saved", e.Saved, "epoch", e.Epoch)
		if e.Op == compact.OpRemove {
			f = f.with("messages", e.End-e.At)
		}
		log.Debug("edit", f.and("id", apierror.Clip(e.ID, 64))...)
	}
}

// logStop writes a line for a step of the proxy's end.
func logStop(log *zap.Logger, i proxy.StopInfo) {
	f := fields(nil).and("cause", i.Why)
	switch i.Step {
	case proxy.StopBegun:
		log.Info("told to stop", f.with("drain", i.Within, "requests", i.Requests, "streams", i.Streams)...)
	case proxy.StopClosed:
		log.Info("the listener is closed", f.with("shutdown", i.Within, "requests", i.Requests, "streams", i.Streams)...)
	case proxy.StopEnded:
		write := log.Info
		if i.Cut > 0 {
			write = log.Warn
		}
		write("ended", f.with("cut", i.Cut, "duration", i.Duration)...)
	}
}

// logJob writes a line for a summary: at debug where it was there already, or is made
// elsewhere, a warning where the summarizer is at fault.
func logJob(log *zap.Logger, i summarize.JobInfo) {
	level := zap.InfoLevel
	switch {
	case !i.Made && (i.Reason == "" || i.Reason == "elsewhere" || i.Reason == "shutdown"):
		level = zap.DebugLevel
	case i.ModelFailed():
		level = zap.WarnLevel
	}
	if line := log.Check(level, "summary"); line != nil {
		line.Write(with(
			"request_id", i.ID, "model", i.Model, "messages", i.Messages, "source_tokens", i.SourceTokens,
			"pieces", i.Pieces, "tries", i.Tries, "updated", i.Updated, "duration", i.Duration,
		).and("unstored", i.Unstored, "error", i.Reason)...)
	}
}
