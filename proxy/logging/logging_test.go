package logging

import (
	"testing"

	"laconic/compact"
	"laconic/proxy"
	"laconic/proxy/apierror"
	"laconic/proxy/summarize"
	"laconic/proxy/summarize/prompt"
	"laconic/proxy/wire"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"go.uber.org/zap/zaptest/observer"
)

func TestTheLevelSaysWhatAnOperatorHasToDo(t *testing.T) {
	f := func(i proxy.ReplyInfo, want zapcore.Level) {
		t.Helper()
		if got := levelOf(i); got != want {
			t.Errorf("%+v: %v, want %v", i, got, want)
		}
	}
	f(proxy.ReplyInfo{Status: 200}, zap.DebugLevel)
	f(proxy.ReplyInfo{Status: 499, Code: apierror.CodeClientLeft}, zap.DebugLevel)
	f(proxy.ReplyInfo{Status: 200, Chat: true, Streamed: true, Done: true}, zap.DebugLevel)
	f(proxy.ReplyInfo{Status: 200, Chat: true, Streamed: true, Unread: true}, zap.DebugLevel)
	f(proxy.ReplyInfo{Status: 499, Chat: true, Streamed: true, Code: apierror.CodeClientLeft}, zap.DebugLevel)
	f(proxy.ReplyInfo{Status: 200, Streamed: true}, zap.DebugLevel) // not chat: nobody looked

	f(proxy.ReplyInfo{Status: 200, Chat: true, Streamed: true, Ended: wire.Empty}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 429}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 499, Code: apierror.CodeClientStalled}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 503, Code: apierror.CodeShutdown, Own: true}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 400, Code: "x", Own: true, Outcome: proxy.Rejected}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 200, Outcome: proxy.Shadow, Rewrite: &proxy.RewriteInfo{Report: compact.Report{Outcome: compact.Over}}}, zap.InfoLevel)

	f(proxy.ReplyInfo{Status: 200, Outcome: proxy.Over, Rewrite: &proxy.RewriteInfo{Report: compact.Report{Outcome: compact.Over}}}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 502, Code: apierror.CodeUnreachable, Own: true}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 502, Code: apierror.CodeProtocol, Own: true}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 504, Code: apierror.CodeTimeout, Own: true}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 200, Code: apierror.CodeBroke}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 200, Chat: true, Streamed: true, Ended: wire.WithoutDone}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 200, Chat: true, Streamed: true, Ended: wire.HalfEvent}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 200, Code: apierror.CodeIdle}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 503, Code: apierror.CodeOverloaded, Own: true}, zap.WarnLevel)

	f(proxy.ReplyInfo{Status: 500, Code: apierror.CodeFault, Own: true}, zap.ErrorLevel)
	f(proxy.ReplyInfo{Status: 200, Chat: true, Outcome: proxy.Passed, Pass: &proxy.PassInfo{Reason: proxy.ReasonFault}}, zap.ErrorLevel)
}

func TestASummarizerThatFailsIsAWarning(t *testing.T) {
	f := func(i summarize.JobInfo, want zapcore.Level) {
		t.Helper()
		core, lines := observer.New(zap.DebugLevel)
		To(zap.New(core)).Summarized(i)
		if got := lines.All()[0].Level; got != want {
			t.Errorf("%+v: %v, want %v", i, got, want)
		}
	}
	f(summarize.JobInfo{}, zap.DebugLevel)
	f(summarize.JobInfo{Reason: "elsewhere"}, zap.DebugLevel)
	f(summarize.JobInfo{Made: true, Tries: 1}, zap.InfoLevel)
	f(summarize.JobInfo{Reason: "memory", Tries: 1}, zap.InfoLevel)
	f(summarize.JobInfo{Reason: string(prompt.TooLarge), Tries: 2}, zap.InfoLevel)
	f(summarize.JobInfo{Reason: "unreachable", Tries: 2}, zap.WarnLevel)
	f(summarize.JobInfo{Reason: "timeout", Tries: 1}, zap.WarnLevel)
	f(summarize.JobInfo{Reason: "status_401", Tries: 1}, zap.WarnLevel)
}
