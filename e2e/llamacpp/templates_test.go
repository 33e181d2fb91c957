package llamacpp_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"laconic/compact"
	"laconic/e2e/llamacpp"
	"laconic/e2e/rig"
	"laconic/fold"
	"laconic/proxy/wire/wiretest"
	"laconic/store/storetest"
)

// TestLlamaCppTemplates: none of 70 chat templates refuses a folded request of which it
// takes the original, as @huggingface/jinja reads them, and as llama-server does, which
// takes minutes: by default it is asked with one in fourteen.
func TestLlamaCppTemplates(t *testing.T) {
	t.Parallel()
	models, library := llamacpp.Fetched(t, "models"), llamacpp.Fetched(t, "jinja/package")
	node := rig.Installed(t, "node", "nodejs")
	pairs := neighbourhoods(t)
	var in, out bytes.Buffer
	for _, p := range pairs {
		in.Write(append(marshal(p), '\n'))
	}
	cmd := exec.Command(node, filepath.Join("testdata", "jinja.mjs"), library, filepath.Join(models, "templates"))
	cmd.Stdin, cmd.Stdout, cmd.Stderr = &in, &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.Bytes())
	}
	var read, refused int
	for line := range strings.Lines(out.String()) {
		var template struct {
			Name, Unread      string
			Originals, Folded int
			Worse             []struct {
				Pair int
				Why  string
			}
		}
		if err := json.Unmarshal([]byte(line), &template); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		t.Logf("%s takes %d of %d originals and %d folded %s", template.Name, template.Originals, len(pairs), template.Folded, template.Unread)
		if template.Unread == "" && template.Folded > 0 {
			read++
		}
		refused += len(pairs) - template.Originals
		for _, w := range template.Worse {
			t.Errorf("%s takes the original and refuses\n%s\n%s", template.Name, strings.Join(rolesOf(pairs[w.Pair].Folded), ", "), w.Why)
		}
	}
	t.Logf("%d templates, %d requests, %d refused as they came", read, len(pairs), refused)
	if read < 60 || len(pairs) < 20 || refused < 20 {
		t.Errorf("%d templates, %d requests, %d refused as they came: too few to show anything", read, len(pairs), refused)
	}
	files, err := filepath.Glob(filepath.Join(models, "templates", "*.jinja"))
	if err != nil || len(files) < read {
		t.Fatalf("%d templates: %v", len(files), err)
	}
	file, every := model(t, ""), 14
	if full() {
		every = 1
	}
	for i := 0; i < len(files); i += every {
		t.Run(filepath.Base(files[i]), func(t *testing.T) {
			url := llamacpp.Start(t, storetest.FreeAddress(t), "-m", file, "-c", "32768", "-np", "1", "--chat-template-file", files[i])
			taken := 0
			for _, p := range pairs {
				if status, _, _ := rig.Post(t, url+"/apply-template", p.Original); status != http.StatusOK {
					continue
				}
				taken++
				if status, _, why := rig.Post(t, url+"/apply-template", p.Folded); status != http.StatusOK {
					t.Errorf("it takes the original and refuses\n%s\n%s", strings.Join(rolesOf(p.Folded), ", "), why)
				}
			}
			if t.Logf("it takes %d of %d originals", taken, len(pairs)); taken == 0 {
				t.Error("it takes none")
			}
		})
	}
}

// foldedPair is a request as it came and as it is folded, with short texts.
type foldedPair struct {
	Original json.RawMessage `json:"original"`
	Folded   json.RawMessage `json:"folded"`
}

// neighbourhoods folds the requests of some conversations and returns those whose lists
// have roles side by side, at the head or at the end that no other one has. By default
// it takes the newest requests of one in eight conversations.
func neighbourhoods(t *testing.T) (all []foldedPair) {
	t.Helper()
	every, newest := 8, 6
	if full() || !wiretest.HasLargerSet(t) {
		every, newest = 1, math.MaxInt
	}
	known := map[string]bool{}
	for _, c := range rig.Chats(t, func(n int, _ string) bool { return n%every == 0 }) {
		for i, c := range []*rig.Chat{c, oneByOne(c), talk(c)} {
			points := c.Points()
			_, whole, err := fold.Compact(c.Body(c.Messages, ","), fold.Options{Limits: compact.Limits{Budget: 1 << 30}})
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range points[max(0, len(points)-newest):] {
				if gjson.GetBytes(c.Messages[k-1], "role").Str == "assistant" {
					continue
				}
				original := c.Body(c.Messages[:k], ",")
				for _, part := range []int{2, 4, 8} {
					folded, _, err := fold.Compact(original, fold.Options{Limits: compact.Limits{Budget: max(1, whole.Before/part)}})
					if err != nil {
						t.Fatal(err)
					}
					if bytes.Equal(folded, original) {
						continue
					}
					isNew := false
					for _, n := range sides(rolesOf(folded)) {
						n = strconv.Itoa(i) + n
						isNew = isNew || !known[n]
						known[n] = true
					}
					if isNew {
						all = append(all, foldedPair{shortened(t, original), shortened(t, folded)})
					}
				}
			}
		}
	}
	t.Logf("%d requests have %d neighbourhoods", len(all), len(known))
	return all
}

// set returns a message with another value.
func set(m json.RawMessage, path string, value any) json.RawMessage {
	m, err := sjson.SetBytes(bytes.Clone(m), path, value)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return m
}

// oneByOne is a conversation with one call a message, and with IDs of nine characters.
func oneByOne(c *rig.Chat) *rig.Chat {
	one := &rig.Chat{ID: c.ID, Model: c.Model, Tools: c.Tools}
	ids := map[string]string{}
	id := func(old string) string {
		if ids[old] == "" {
			ids[old] = fmt.Sprintf("%09d", len(ids))
		}
		return ids[old]
	}
	for i := 0; i < len(c.Messages); i++ {
		m := c.Messages[i]
		calls := gjson.GetBytes(m, "tool_calls").Array()
		answers := func(i int) string { return gjson.GetBytes(c.Messages[i], "tool_call_id").Str }
		if answers(i) != "" {
			m = set(m, "tool_call_id", id(answers(i)))
		}
		if len(calls) == 0 {
			one.Messages = append(one.Messages, m)
			continue
		}
		end := i + 1
		for end < len(c.Messages) && slices.ContainsFunc(calls, func(call gjson.Result) bool { return call.Get("id").Str == answers(end) }) {
			end++
		}
		for k, call := range calls {
			name := call.Get("id").Str
			alone := set(set(m, "tool_calls", []any{json.RawMessage(call.Raw)}), "tool_calls.0.id", id(name))
			if k > 0 {
				alone, _ = sjson.DeleteBytes(alone, "content")
			}
			one.Messages = append(one.Messages, alone)
			for j := i + 1; j < end; j++ {
				if answers(j) == name {
					one.Messages = append(one.Messages, set(c.Messages[j], "tool_call_id", id(name)))
				}
			}
		}
		i = end - 1
	}
	return one
}

// talk is a conversation as users and assistants in turn, without instructions.
func talk(c *rig.Chat) *rig.Chat {
	talk := &rig.Chat{ID: c.ID, Model: c.Model}
	role, text := "", ""
	say := func(next string) {
		if role != "" && next != role {
			talk.Messages = append(talk.Messages, marshal(says(role, text)))
			text = ""
		}
		role = next
	}
	for _, m := range c.Messages {
		next := gjson.GetBytes(m, "role").Str
		switch {
		case next == "tool":
			next = "user"
		case next != "user" && next != "assistant", next == "assistant" && role == "":
			continue
		}
		say(next)
		text += "\n" + gjson.GetBytes(m, "content").String() + gjson.GetBytes(m, "tool_calls").Raw
	}
	say("end")
	return talk
}

// rolesOf names the messages of a request by what templates tell apart.
func rolesOf(body []byte) (all []string) {
	gjson.GetBytes(body, "messages").ForEach(func(_, m gjson.Result) bool {
		name := m.Get("role").String()
		switch c := m.Get("content"); {
		case c.IsArray():
			name += " parts"
		case c.String() == "":
			name += " empty"
		}
		switch n := len(m.Get("tool_calls").Array()); {
		case n > 1:
			name += " calls"
		case n == 1:
			name += " call"
		}
		if m.Get("reasoning_content").Exists() {
			name += " thinking"
		}
		all = append(all, name)
		return true
	})
	return all
}

// sides are all threes of a list that stand side by side, its head and its end.
func sides(roles []string) (all []string) {
	roles = slices.Concat([]string{"^", "^"}, roles, []string{"$", "$"})
	for i := 2; i < len(roles); i++ {
		all = append(all, strings.Join(roles[i-2:i+1], ", "))
	}
	return all
}

// shortened returns a request whose texts have sixty characters, with two small tools:
// templates look at the order of roles.
func shortened(t *testing.T, body []byte) []byte {
	t.Helper()
	var r struct {
		Messages []map[string]any `json:"messages"`
		Tools    []any            `json:"tools,omitempty"`
	}
	if err := json.Unmarshal(body, &r); err != nil {
		t.Fatal(err)
	}
	cut := func(m map[string]any, key string) {
		if text, ok := m[key].(string); ok {
			runes := []rune(text)
			m[key] = string(runes[:min(60, len(runes))])
		}
	}
	for _, m := range r.Messages {
		cut(m, "content")
		cut(m, "reasoning_content")
		parts, _ := m["content"].([]any)
		for _, p := range parts {
			if p, ok := p.(map[string]any); ok {
				cut(p, "text")
			}
		}
	}
	r.Tools = r.Tools[:min(2, len(r.Tools))]
	for i := range r.Tools {
		r.Tools[i] = tool("tool"+strconv.Itoa(i), "does it")
	}
	return marshal(r)
}
