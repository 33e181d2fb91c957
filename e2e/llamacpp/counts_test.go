package llamacpp_test

import (
	"bytes"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"laconic/e2e/rig"

	"github.com/tidwall/gjson"
)

// TestLlamaCppCounts: after three answers, Laconic counts a prompt as a real template and
// a real vocabulary do, whoever asks: within 3 %. The first prompt of an agent is counted
// within 10 %, tools that the template leaves out among them, and whatever name the model
// is asked by.
func TestLlamaCppCounts(t *testing.T) {
	t.Parallel()
	type row struct {
		vocabulary, template string
		models               []string
	}
	rows := []row{{"", chatML, []string{"my-model"}}}
	if full() {
		rows = append(rows,
			row{"qwen2", "Qwen-Qwen2.5-7B-Instruct", []string{"qwen2.5-7b-instruct", "my-model"}},
			row{"qwen2", "Qwen-Qwen3-0.6B", []string{"qwen3-8b", "my-model"}},
			row{"qwen2", "Qwen3-Coder", []string{"qwen3-coder-30b", "my-model"}},
			row{"qwen35", "Qwen3.5-4B", []string{"qwen3.5-4b", "my-model"}},
			row{"llama-bpe", "meta-llama-Llama-3.1-8B-Instruct", []string{"llama-3.1-8b-instruct", "my-model", "gpt-4"}},
			row{"llama-bpe", "NousResearch-Hermes-3-Llama-3.1-8B-tool_use", []string{"hermes-3-llama-3.1-8b", "my-model"}},
			row{"gemma-4", "google-gemma-4-31B-it", []string{"gemma-4-31b-it", "my-model"}},
			row{"deepseek-v3", "deepseek-ai-DeepSeek-V3.1", []string{"deepseek-v3.1", "my-model"}},
			row{"phi-3", "microsoft-Phi-3.5-mini-instruct", []string{"phi-3.5-mini-instruct", "my-model"}})
	}
	chats := chatsOf(t, "demo", "tau-bench/airline/gpt-4o/task11/trial0", "mini-swe-agent/deepseek_chat_dev/pydicom__pydicom-1694", "openhands-swebench/astropy__astropy-13033")
	for _, r := range rows {
		t.Run(r.template+" "+r.vocabulary, func(t *testing.T) {
			l := startLlama(t, model(t, r.vocabulary), r.template, 65536)
			for _, name := range r.models {
				p := rig.Start(t, l.URL+"/v1", "")
				rig.Eventually(t, "the server's page is read", func() bool { return budgetOf(t, p.URL, name) < 65536 })
				var first, rest []float64 // rest: after three answers
				for _, c := range chats {
					off := countsOff(t, p, growing(c, name, 7))
					t.Logf("%-22s %-54s %+.1f %%", name, c.ID, off)
					first = append(first, math.Abs(off[0]))
					for _, e := range off[min(3, len(off)):] {
						rest = append(rest, math.Abs(e))
					}
				}
				if most := slices.Max(first); most > 10 {
					t.Errorf("%s: the first request is up to %.1f %% off", name, most)
				}
				if most := slices.Max(rest); most > 3 {
					t.Errorf("%s: after three answers up to %.1f %% off", name, most)
				}
			}
		})
	}
}

// TestLlamaCppCountsWithoutCalls: a template that leaves out tools, calls and results is
// counted so from the first request on, however little of an agent's prompts is left.
func TestLlamaCppCountsWithoutCalls(t *testing.T) {
	t.Parallel()
	l := startLlama(t, model(t, ""), "microsoft-Phi-3.5-mini-instruct", 65536)
	p := rig.Start(t, l.URL+"/v1", "")
	rig.Eventually(t, "the server's page is read", func() bool { return budgetOf(t, p.URL, "my-model") < 65536 })
	tools := []object{{"type": "function", "function": object{"name": "look", "description": strings.Repeat("Looks at a thing. ", 40)}}}
	messages := []object{says("system", "You look at things and say what you see."), says("user", "Look at everything.")}
	var requests [][]byte
	for i := range 8 {
		step := calls("call" + strconv.Itoa(i))
		step[0]["content"] = "Now I look at thing " + strconv.Itoa(i) + "."
		step[1]["content"] = strings.Repeat("a long result that nobody reads ", 60)
		messages = append(messages, step...)
		requests = append(requests, marshal(object{"model": "my-model", "messages": messages, "tools": tools, "max_tokens": 1}))
	}
	off := countsOff(t, p, requests)
	t.Logf("%+.1f %%", off)
	for _, e := range off {
		if math.Abs(e) > 30 {
			t.Errorf("the counts are %+.1f %% off", off)
			break
		}
	}
}

// TestLlamaCppStreamsWithoutUsage: the timings in a stream teach the count too.
func TestLlamaCppStreamsWithoutUsage(t *testing.T) {
	t.Parallel()
	l := startLlama(t, model(t, ""), chatML, 65536)
	p := rig.Start(t, l.URL+"/v1", "")
	var requests [][]byte
	for _, body := range growing(chatsOf(t, "demo")[0], "my-model", 5) {
		requests = append(requests, with(body, `"stream":true`))
	}
	off := countsOff(t, p, requests)
	t.Logf("%+.1f %%", off)
	if first, last := math.Abs(off[0]), math.Abs(off[len(off)-1]); first < 5 || last > 3 {
		t.Errorf("the counts are %+.1f %% off", off)
	}
}

// countsOff returns how far the counts of requests are from what was billed, in percent.
func countsOff(t *testing.T, p *rig.Laconic, requests [][]byte) (off []float64) {
	t.Helper()
	for _, body := range requests {
		status, h, answer := rig.Post(t, p.URL+completions, body)
		counted, err := strconv.ParseFloat(h.Get("X-Laconic-Tokens-After"), 64)
		if status != http.StatusOK || err != nil {
			t.Fatalf("%d %v %.300s", status, h, answer)
		}
		billed := gjson.GetBytes(answer, "usage.prompt_tokens").Float()
		if _, timings, ok := bytes.Cut(answer, []byte(`"timings":`)); ok && billed == 0 {
			billed = gjson.GetBytes(timings, "cache_n").Float() + gjson.GetBytes(timings, "prompt_n").Float()
		}
		off = append(off, 100*(counted/billed-1))
	}
	return off
}
