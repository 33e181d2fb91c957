package llamacpp_test

import (
	"fmt"
	"net/http"
	"testing"

	"laconic/e2e/rig"

	"github.com/tidwall/gjson"
)

// TestLlamaCppCache: what a server evaluates of a session's calls that outgrow its window.
// The rest it has in its cache, as far as a prompt begins with the one before. Through
// Laconic it is little more than where nothing has to be left out, told of the window or
// not, and through two replicas in turn that share nothing, too. It is far less than where the
// oldest messages are dropped: at the end of a session, a quarter.
func TestLlamaCppCache(t *testing.T) {
	t.Parallel()
	type way struct {
		conversation, vocabulary, template string
		window, calls                      int
		// What Laconic may take at the most, in percent: of what is evaluated without a
		// limit, and of what is where the oldest messages are dropped.
		ofWhole, ofDropped int
		// The count is corrected by no more than a step, and so two replicas that share nothing agree.
		agree bool
	}
	ways := []way{{"demo", "", chatML, 8192, 22, 140, 75, false}}
	if full() {
		ways = append(ways[:0],
			way{"demo", "", chatML, 16384, 41, 150, 40, true}, // 145 % since the record fills more of its slot
			way{"mini-swe-agent/deepseek_chat_dev/pydicom__pydicom-1694", "qwen2", chatML, 8192, 41, 130, 40, true},
			way{"mini-swe-agent/deepseek_chat_dev/pvlib__pvlib-python-1154", "qwen35", "Qwen3.5-4B", 8192, 41, 130, 40, true},
			way{"entire-cli/07d86da7-2e39-4276-a0d5-7b46a85b8750", "llama-bpe", "NousResearch-Hermes-3-Llama-3.1-8B-tool_use", 8192, 41, 130, 40, false})
	}
	for _, w := range ways {
		t.Run(w.conversation, func(t *testing.T) {
			found := chatsOf(t, w.conversation)
			if len(found) == 0 {
				t.Skip("it needs a larger set of conversations; LACONIC_SHARED names the folder that holds conversations/")
			}
			c, file := found[0], model(t, w.vocabulary)
			serve := func(window int) *llama {
				return startLlama(t, file, w.template, window, "-np", "1")
			}
			large := serve(131072)
			requests := growing(c, "my-model", w.calls)
			whole := large.evaluates(t, requests, large.direct)
			small := serve(w.window)
			dropped := small.evaluates(t, large.dropping(t, c, w.calls, w.window-512), small.direct)
			t.Logf("tokens evaluated of tokens sent, window %d\neverything, window 131072  %v\noldest dropped             %v", w.window, whole, dropped)
			if whole.sent/whole.requests < w.window || whole.refused+dropped.refused > 0 {
				t.Error("the window is not one that the conversation outgrows")
			}
			through := func(name, config string, replicas int) {
				l := serve(w.window)
				var urls []string
				for range replicas {
					urls = append(urls, rig.Start(t, l.URL+"/v1", config).URL)
				}
				e := l.evaluates(t, requests, urls...)
				t.Logf("%-26s %v", name, e)
				if e.refused > 0 || e.tokens*100 > whole.tokens*w.ofWhole || e.tokens*100 > dropped.tokens*w.ofDropped {
					t.Errorf("%s: more than %d %% of what is evaluated without a limit, or than %d %% of what it is where the oldest messages are dropped", name, w.ofWhole, w.ofDropped)
				}
			}
			// Untold it keeps a quarter of the window for the answer, so it compacts more often.
			through("Laconic, told nothing", "", 1)
			if full() {
				through("Laconic, told", fmt.Sprintf("models: [{match: \"*\", window: %d, reserve: 512}]\n", w.window), 1)
			}
			if w.agree {
				through("two that share nothing", "", 2)
			}
		})
	}
}

// evaluated is what became of a conversation.
type evaluated struct {
	requests, refused, sent, tokens int
	lost                            int // prompts that did not begin with the one before
}

func (e evaluated) String() string {
	return fmt.Sprintf("%7d of %7d, %2d of %d refused, %2d prefixes lost", e.tokens, e.sent, e.refused, e.requests, e.lost)
}

// evaluates sends requests one after the other, to each of some URLs in turn.
func (l *llama) evaluates(t testing.TB, requests [][]byte, urls ...string) (e evaluated) {
	t.Helper()
	before := 0
	for i, body := range requests {
		status, _, answer := rig.Post(t, urls[i%len(urls)]+completions, body)
		e.requests++
		if status != http.StatusOK {
			e.refused++
			continue
		}
		n := func(path string) int { return int(gjson.GetBytes(answer, path).Int()) }
		e.sent, e.tokens = e.sent+n("usage.prompt_tokens"), e.tokens+n("timings.prompt_n")
		if n("timings.cache_n") < before-100 { // what a template writes at the end is evaluated again
			e.lost++
		}
		before = n("usage.prompt_tokens")
	}
	return e
}

// dropping returns the requests of a conversation as clients send them that drop the
// oldest messages behind the first user's, up to an answer, until the rest fits.
func (l *llama) dropping(t testing.TB, c *rig.Chat, most, window int) (all [][]byte) {
	t.Helper()
	role := func(i int) string { return gjson.GetBytes(c.Messages[i], "role").Str }
	head := 1
	if role(0) == "system" {
		head = 2
	}
	from := head
	for _, k := range c.Points() {
		if len(all) == most || role(k-1) == "assistant" {
			continue
		}
		for ; ; from++ {
			if from > head && from < k-1 && role(from) != "assistant" {
				continue
			}
			messages := append(c.Messages[:head:head], c.Messages[min(from, k):k]...)
			body := with(c.Body(messages, ","), `"max_tokens":1`)
			_, _, answer := rig.Post(t, l.direct+completions+"/input_tokens", body)
			n := gjson.GetBytes(answer, "input_tokens")
			if !n.Exists() {
				t.Fatalf("llama-server does not count: %s", answer)
			}
			if int(n.Int()) <= window || from >= k-1 {
				all = append(all, body)
				break
			}
		}
	}
	return all
}
