package logging

import (
	"fmt"
	"testing"
	"time"

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
	f(proxy.ReplyInfo{Status: 200, Wire: "chat", Streamed: true, Done: true}, zap.DebugLevel)
	f(proxy.ReplyInfo{Status: 200, Wire: "chat", Streamed: true, Unread: true}, zap.DebugLevel)
	f(proxy.ReplyInfo{Status: 499, Wire: "chat", Streamed: true, Code: apierror.CodeClientLeft}, zap.DebugLevel)
	f(proxy.ReplyInfo{Status: 200, Streamed: true}, zap.DebugLevel) // not chat: nobody looked

	f(proxy.ReplyInfo{Status: 200, Wire: "chat", Streamed: true, Ended: wire.Empty}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 429}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 499, Code: apierror.CodeClientStalled}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 503, Code: apierror.CodeShutdown, Own: true}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 400, Code: "x", Own: true, Outcome: proxy.Rejected}, zap.InfoLevel)
	f(proxy.ReplyInfo{Status: 200, Outcome: proxy.Shadow, Rewrite: &proxy.RewriteInfo{Report: compact.Report{Outcome: compact.Over}}}, zap.InfoLevel)

	f(proxy.ReplyInfo{Status: 200, Outcome: proxy.Over, Rewrite: &proxy.RewriteInfo{Report: compact.Report{Outcome: compact.Over}}}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 400, Outcome: proxy.Refused, Rewrite: &proxy.RewriteInfo{}}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 502, Code: apierror.CodeUnreachable, Own: true}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 502, Code: apierror.CodeProtocol, Own: true}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 504, Code: apierror.CodeTimeout, Own: true}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 200, Code: apierror.CodeBroke}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 200, Wire: "chat", Streamed: true, Ended: wire.WithoutDone}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 200, Wire: "chat", Streamed: true, Ended: wire.HalfEvent}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 200, Code: apierror.CodeIdle}, zap.WarnLevel)
	f(proxy.ReplyInfo{Status: 503, Code: apierror.CodeOverloaded, Own: true}, zap.WarnLevel)

	f(proxy.ReplyInfo{Status: 500, Code: apierror.CodeFault, Own: true}, zap.ErrorLevel)
	f(proxy.ReplyInfo{Status: 200, Wire: "chat", Outcome: proxy.Passed, Passed: proxy.ReasonFault}, zap.ErrorLevel)
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

func TestAnEndThatCutsRequestsIsAWarning(t *testing.T) {
	f := func(i proxy.StopInfo, level zapcore.Level, text string) {
		t.Helper()
		core, lines := observer.New(zap.DebugLevel)
		To(zap.New(core)).Stopping(i)
		got := lines.All()[0]
		if said := fmt.Sprint(got.Message, " ", got.ContextMap()); got.Level != level || said != text {
			t.Errorf("%v %s", got.Level, said)
		}
	}
	f(proxy.StopInfo{Step: proxy.StopBegun, Why: "SIGTERM", Within: time.Second, Requests: 3, Streams: 2}, zap.InfoLevel,
		"told to stop map[cause:SIGTERM drain:1s requests:3 streams:2]")
	f(proxy.StopInfo{Step: proxy.StopClosed, Within: time.Second, Requests: 3, Streams: 2}, zap.InfoLevel,
		"the listener is closed map[requests:3 shutdown:1s streams:2]")
	f(proxy.StopInfo{Step: proxy.StopEnded, Duration: time.Second}, zap.InfoLevel, "ended map[cut:0 duration:1s]")
	f(proxy.StopInfo{Step: proxy.StopEnded, Cut: 1, Duration: time.Second}, zap.WarnLevel, "ended map[cut:1 duration:1s]")
}

func TestAnErasureThatFailsIsAWarning(t *testing.T) {
	for failed, want := range map[bool]zapcore.Level{false: zap.InfoLevel, true: zap.WarnLevel} {
		core, lines := observer.New(zap.DebugLevel)
		To(zap.New(core)).Erased(summarize.ErasedInfo{Remembered: 3, Stored: 1, Failed: failed})
		if got := lines.All()[0]; got.Level != want || fmt.Sprint(got.ContextMap()) != "map[asked:another replica summaries:1 texts:3]" {
			t.Errorf("%v %s %v", got.Level, got.Message, got.ContextMap())
		}
	}
}
