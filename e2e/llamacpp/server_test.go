package llamacpp_test

import (
	"bytes"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"laconic/e2e/llamacpp"
	"laconic/e2e/rig"
	"laconic/store/storetest"

	"github.com/tidwall/gjson"
)

// TestLlamaCppRefuses: a prompt that is too long for a server of which nothing is known
// is refused, folded, and answered, streamed or not, and the next one is not refused.
func TestLlamaCppRefuses(t *testing.T) {
	t.Parallel()
	l := startLlama(t, model(t, ""), chatML, 4096)
	l.secret = true
	long := longRequest("my-model", 9000)
	status, _, answer := rig.Post(t, l.direct+completions, long)
	if status != http.StatusBadRequest || gjson.GetBytes(answer, "error.type").String() != "exceed_context_size_error" || gjson.GetBytes(answer, "error.n_ctx").Int() != 4096 {
		t.Fatalf("llama-server refuses otherwise: %d %s", status, answer)
	}
	for _, stream := range []string{"false", "true"} {
		p := rig.Start(t, l.URL+"/v1", "")
		for i, want := range []struct {
			outcome string
			asked   int
		}{{"retried", 2}, {"compacted", 1}} {
			status, h, answer := rig.Post(t, p.URL+completions, with(long, `"stream":`+stream))
			if asked := len(l.came()); status != http.StatusOK || h.Get("X-Laconic-Outcome") != want.outcome || asked != want.asked || bytes.Contains(answer, []byte("error")) {
				t.Errorf("stream %s, request %d: %d %q, asked %d times: %.300s", stream, i+1, status, h.Get("X-Laconic-Outcome"), asked, answer)
			}
		}
	}
}

// TestLlamaCppAnswersUnchanged: a request that fits arrives as it was, and the answer
// comes back as the server wrote it, to the byte.
func TestLlamaCppAnswersUnchanged(t *testing.T) {
	t.Parallel()
	l := startLlama(t, model(t, ""), chatML, 4096)
	p := rig.Start(t, l.URL+"/v1", "")
	for _, more := range []string{`"n":1`, `"stream":true`, `"stream":true,"stream_options":{"include_usage":true}`, `"stream":true,"return_progress":true`} {
		body := with(marshal(object{
			"model": "my-model", "max_tokens": 8, "tools": []object{tool("look", "Looks.")},
			"messages": append([]object{says("user", "look")}, calls("c")...),
		}), more)
		status, _, answer := rig.Post(t, p.URL+completions, body)
		all := l.came()
		if status != http.StatusOK || len(all) != 1 || !bytes.Equal(all[0].body, body) {
			t.Errorf("%s: %d, asked %d times: %.300s", more, status, len(all), answer)
			continue
		}
		if !bytes.Equal(answer, all[0].answer.Bytes()) || len(answer) == 0 {
			t.Errorf("%s: the server wrote\n%s\nand the client read\n%s", more, all[0].answer, answer)
		}
	}
}

// TestLlamaCppWindows: whatever a client calls the one model of a server, its window
// is the server's.
func TestLlamaCppWindows(t *testing.T) {
	t.Parallel()
	l := startLlama(t, model(t, ""), chatML, 32768, "--alias", "one,other")
	p := rig.Start(t, l.URL+"/v1", "")
	_, _, page := rig.Post(t, p.URL+completions, marshal(object{"model": "x", "messages": []object{says("user", "hello")}, "max_tokens": 1}))
	id := gjson.GetBytes(page, "model").String()
	var want int
	rig.Eventually(t, "the window is known", func() bool { want = budgetOf(t, p.URL, id); return want < 32768 })
	if want < 32768/2 {
		t.Errorf("a window of 32768 leaves a budget of %d", want)
	}
	for _, name := range []string{"one", "other", "gpt-4", "gpt-3.5-turbo", "llama3", "qwen2.5-7b-instruct", "my-model"} {
		if got := budgetOf(t, p.URL, name); got != want {
			t.Errorf("%s has a budget of %d, and %s, which is the same model, of %d", name, got, id, want)
		}
	}
}

// TestLlamaCppLoadsOnDemand: a server that loads the models of a folder publishes the
// windows of their training, and gives them the one of its command line.
func TestLlamaCppLoadsOnDemand(t *testing.T) {
	t.Parallel()
	l := front(llamacpp.Start(t, storetest.FreeAddress(t), "--models-dir", filepath.Dir(model(t, "")), "-c", "4096"), t)
	p := rig.Start(t, l.URL+"/v1", "")
	rig.Eventually(t, "the window is that of the command line", func() bool { return budgetOf(t, p.URL, "model") < 4096 })
	long := longRequest("model", 9000)
	if status, h, answer := rig.Post(t, p.URL+completions, long); status != http.StatusOK || h.Get("X-Laconic-Outcome") != "compacted" {
		t.Errorf("%d %q: %.300s", status, h.Get("X-Laconic-Outcome"), answer)
	}
}

// TestLlamaCppFortyTools: forty tools take two thirds of a window, and the agent comes to
// its end all the same.
func TestLlamaCppFortyTools(t *testing.T) {
	t.Parallel()
	l := startLlama(t, model(t, ""), chatML, 20000, "-np", "1")
	l.secret = true
	c := chatsOf(t, "demo")[0]
	var tools []object
	for i := range 40 {
		name := "tool_" + strconv.Itoa(i)
		tools = append(tools, tool(name, strings.Repeat("Does what "+name+" does, and says how that went. ", 20)))
	}
	c.Tools = marshal(tools)
	calls := 12
	if full() {
		calls = 41
	}
	e := l.evaluates(t, growing(c, "my-model", calls), rig.Start(t, l.URL+"/v1", "").URL)
	refused := 0
	for _, came := range l.came() {
		if came.status != http.StatusOK {
			refused++
		}
	}
	t.Logf("%v, the server refused %d", e, refused)
	if e.requests != calls || e.refused > 0 || refused == 0 || refused > 2 || e.sent/e.requests < 12000 {
		t.Errorf("%v, the server refused %d", e, refused)
	}
}

// TestLlamaCppBusy: the slots of a server share one cache. Three conversations that fit
// it one by one fill it together, and what then is refused says nothing of one alone.
func TestLlamaCppBusy(t *testing.T) {
	t.Parallel()
	l := startLlama(t, model(t, ""), chatML, 8192, "--alias", "my-model")
	p := rig.Start(t, l.URL+"/v1", "")
	rig.Eventually(t, "the window is known", func() bool { return budgetOf(t, p.URL, "my-model") < 8192 })
	l.came()
	var wg sync.WaitGroup
	for i := range 3 {
		wg.Go(func() {
			body := bytes.Replace(longRequest("my-model", 4000), []byte("count"), []byte(strconv.Itoa(i)+" count"), 1)
			_, _, _ = rig.Post(t, p.URL+completions, bytes.Replace(body, []byte(`"max_tokens":4`), []byte(`"max_tokens":20`), 1))
		})
	}
	wg.Wait()
	full := 0
	for _, c := range l.came() {
		if bytes.Contains(c.answer.Bytes(), []byte("Context size has been exceeded")) {
			full++
		}
	}
	if full == 0 {
		t.Error("the cache was never full, and this test shows nothing")
	}
	status, h, answer := rig.Post(t, p.URL+completions, longRequest("my-model", 4000))
	if status != http.StatusOK || h.Get("X-Laconic-Outcome") != "untouched" {
		t.Errorf("alone: %d %q with a budget of %s: %.300s", status, h.Get("X-Laconic-Outcome"), h.Get("X-Laconic-Budget"), answer)
	}
	t.Logf("%d refusals of a full cache", full)
}
