package stories

import (
	"fmt"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"

	"laconic/store/storetest"
)

// startSummarizer: summarizer starts a stand-in for the model that writes
// summaries; its base URL is $SUMMARIZER.
func startSummarizer(ts *testscript.TestScript, args []string) {
	flags(ts, args, 0, 0, nil)
	s := storyOf(ts)
	s.summarizer = &summarizer{}
	server := httptest.NewServer(s.summarizer)
	ts.Defer(server.Close)
	ts.Setenv("SUMMARIZER", server.URL+"/v1")
}

// askedSummarizer: asked prints what the stand-in was asked so far.
func askedSummarizer(ts *testscript.TestScript, args []string) {
	flags(ts, args, 0, 0, nil)
	s := storyOf(ts)
	if s.summarizer == nil {
		ts.Fatalf("asked needs a summarizer")
	}
	fmt.Fprintf(ts.Stdout(), "%d requests, %d updates\n", s.summarizer.requests.Load(), s.summarizer.updates.Load())
}

// startRedis: redis starts a redis-server of the story's own; its URL is $REDIS.
func startRedis(ts *testscript.TestScript, args []string) {
	flags(ts, args, 0, 0, nil)
	ts.Setenv("REDIS", storetest.StartRedis(storyOf(ts).tb).URL())
}
