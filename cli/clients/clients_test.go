package clients

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"

	pages "laconic/docs/clients"
)

// TestEachPageIsListed: the list has each page and no other, and each program a row of it.
func TestEachPageIsListed(t *testing.T) {
	var got, want []string
	for i := range Table {
		c := &Table[i]
		got = append(got, c.Name+".md")
		if !strings.Contains(page(c.Name), c.Advice) || (c.Advice == "") != (c.Window == "has no such setting") {
			t.Errorf("the page of %s does not say %q, or the list %q", c.Name, c.Advice, c.Window)
		}
		for _, b := range Blocks(c.Name, "ORIGIN", "MODEL") {
			if b.Where == "" || strings.Contains(b.Text, shownOrigin) || strings.Contains(b.Text, ShownModel) {
				t.Errorf("%s: %+v", c.Name, b)
			}
		}
	}
	files, err := fs.Glob(pages.Files, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	want = slices.DeleteFunc(files, func(name string) bool { return name == "README.md" })
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the list has %q, the folder %q", got, want)
	}
	for name := range programs {
		if Named(name) == nil {
			t.Errorf("%s is not in the list", name)
		}
	}
}

func TestCommandsAreKnownByTheirNames(t *testing.T) {
	f := func(command, want string) {
		t.Helper()
		got := ""
		if c := OfCommand(command); c != nil {
			got = c.Name
		}
		if got != want {
			t.Errorf("%s is %q, want %q", command, got, want)
		}
	}
	f("opencode", "opencode")
	f("/usr/local/bin/opencode", "opencode")
	f("qwen", "qwen-code")
	f("CODEX.CMD", "codex")
	f("claude.exe", "claude-code")
	f("python3", "")
	f("", "")
}

// start starts a command whose upstream lists some models and wants a key.
func start(t *testing.T, env map[string]string, listed []string, model string, command ...string) Started {
	t.Helper()
	return startWith(t, Given{Model: model}, env, listed, command...)
}

func startWith(t *testing.T, of Given, env map[string]string, listed []string, command ...string) Started {
	t.Helper()
	return Start(OfCommand(command[0]), Given{
		Base: "http://127.0.0.1:1/v1", Key: of.Key, AnyKey: of.AnyKey, Elsewhere: of.Elsewhere, Model: of.Model, Chosen: of.Chosen, Args: command[1:],
		List:   func() []string { return listed },
		Lookup: func(name string) (string, bool) { v, ok := env[name]; return v, ok },
		File:   func(name, text string) (string, error) { return "FILE(" + text + ")", nil },
	})
}

func TestStart(t *testing.T) {
	f := func(s Started, args, env, say string) {
		t.Helper()
		if got := strings.Join(s.Args, " "); got != args {
			t.Errorf("arguments\n%s, want\n%s", got, args)
		}
		for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"} {
			if s.Env[name] != "http://127.0.0.1:1/v1" {
				t.Errorf("%s is %q", name, s.Env[name])
			}
			delete(s.Env, name)
		}
		var pairs []string
		for name, value := range s.Env {
			pairs = append(pairs, name+"="+value)
		}
		slices.Sort(pairs)
		if got := strings.Join(pairs, " "); got != env {
			t.Errorf("environment\n%s, want\n%s", got, env)
		}
		if got := strings.Join(s.Say, " "); (say == "") != (got == "") || !strings.Contains(got, say) {
			t.Errorf("says %q, want %q", got, say)
		}
	}
	two := []string{"a", "b"}
	const declared = `OPENCODE_CONFIG_CONTENT={"model":"laconic/a","provider":{"laconic":{"models":{"a":{"limit":{"context":1000000,"output":8192},"tool_call":true}},` +
		`"name":"Laconic","npm":"@ai-sdk/openai-compatible","options":{"apiKey":"{env:OPENAI_API_KEY}","baseURL":"http://127.0.0.1:1/v1"}}}}`
	f(start(t, nil, two, "", "python3"), "", "", "")
	f(start(t, nil, nil, "a", "opencode"), "", declared, "")
	f(start(t, nil, two[:1], "", "opencode"), "", declared, "")
	f(start(t, nil, nil, "", "opencode"), "", "", "needs the name of a model")
	f(start(t, map[string]string{"OPENCODE_CONFIG_CONTENT": "{// mine\n}"}, nil, "a", "opencode"), "", "", "stays as it is")

	const flags = `--auth-type openai --openai-base-url http://127.0.0.1:1/v1`
	f(start(t, nil, two, "a", "qwen"), flags+" --model a", "", "contextWindowSize")
	f(start(t, nil, two, "", "qwen", "-m", "b"), flags, "", "contextWindowSize")

	s := start(t, nil, two, "", "pi", "--model", "b")
	if got := strings.Join(s.Args, " "); !strings.HasPrefix(got, `--extension FILE(export default function (pi) { pi.registerProvider("laconic", {"api":"openai-completions"`) ||
		!strings.HasSuffix(got, ") --provider laconic") || !strings.Contains(got, `"contextWindow":1000000`) {
		t.Errorf("pi is started with %s", got)
	}
	f(start(t, nil, two, "", "pi"), "", "", "needs the name of a model")
	f(start(t, nil, two, "", "pi", "--provider", "openai"), "", "", "own choice")

	const codex = `-c model_provider="laconic" -c model_context_window=1000000 -c model_auto_compact_token_limit=1000000 -c model_providers.laconic.name="laconic" -c model_providers.laconic.base_url="http://127.0.0.1:1/v1" -c model_providers.laconic.env_key="OPENAI_API_KEY"`
	f(start(t, nil, nil, "a", "codex"), codex+` -c model_providers.laconic.supports_websockets=false -c model="a"`, "", "")
	f(start(t, nil, two[:1], "", "codex"), codex+` -c model_providers.laconic.supports_websockets=false -c model="a"`, "", "")
	f(start(t, nil, two, "", "codex"), codex+` -c model_providers.laconic.supports_websockets=false`, "", "")
	f(start(t, nil, nil, "a", "codex", "-m", "b"), codex+` -c model_providers.laconic.supports_websockets=false`, "", "")

	f(start(t, map[string]string{"OPENAI_API_KEY": "k"}, two, "a", "copilot"), "", "COPILOT_MODEL=a COPILOT_PROVIDER_API_KEY=k COPILOT_PROVIDER_BASE_URL=http://127.0.0.1:1/v1", "")
	f(start(t, nil, two, "a", "claude"), "", "ANTHROPIC_BASE_URL=http://127.0.0.1:1", "")

	const providers = `FILE({"lastUsedProvider":"openai-compatible","modes":{},"providers":{"openai-compatible":{"settings":{"apiKey":"k","baseUrl":"http://127.0.0.1:1/v1","model":"a",` +
		`"provider":"openai-compatible"},"tokenSource":"manual","updatedAt":"2026-01-01T00:00:00.000Z"}},"version":1})`
	key := map[string]string{"OPENAI_API_KEY": "k"}
	f(start(t, key, two, "a", "cline"), "--provider openai-compatible --model a --compaction off", "CLINE_PROVIDER_SETTINGS_PATH="+providers+" CLINE_SESSION_BACKEND_MODE=local", "")
	f(start(t, key, two, "a", "cline", "-m", "b", "--compaction=basic"), "--provider openai-compatible", "CLINE_PROVIDER_SETTINGS_PATH="+providers+" CLINE_SESSION_BACKEND_MODE=local", "")
	f(start(t, nil, two, "a", "cline", "-P", "cline"), "", "", "own choice")
	f(start(t, nil, two, "", "cline"), "", "", "needs the name of a model")

	const config = "--config FILE(name: Laconic\nversion: 0.0.1\nschema: v1\nmodels:\n  - name: a\n    provider: openai\n    model: a\n" +
		"    apiBase: http://127.0.0.1:1/v1\n    apiKey: k\n    roles: [chat, edit, apply]\n)"
	f(start(t, key, two, "a", "cn"), config, "", "in the place of yours")
	f(start(t, nil, two, "a", "cn", "--config", "own.yaml"), "", "", "own choice")
	f(start(t, nil, two, "", "cn"), "", "", "needs the name of a model")
}

// TestKeys: a program that does not start without a key gets one where none is wanted,
// and the proxy's where it wants its own.
func TestKeys(t *testing.T) {
	f := func(of Given, env map[string]string, command, name, want string) {
		t.Helper()
		of.Model = "a"
		if got := startWith(t, of, env, nil, command).Env[name]; got != want {
			t.Errorf("%+v, %v: %s of %s is %q, want %q", of, env, name, command, got, want)
		}
	}
	needs, free, own := Given{}, Given{AnyKey: true}, Given{Key: "k", AnyKey: true}
	has := map[string]string{"OPENAI_API_KEY": "sk", "ANTHROPIC_API_KEY": "sk-ant", "ANTHROPIC_MODEL": "m"}
	for _, name := range []string{"OPENAI_API_KEY", "COPILOT_PROVIDER_API_KEY"} {
		f(needs, nil, "copilot", name, "")
		f(free, nil, "copilot", name, "none")
		f(own, has, "copilot", name, "k")
	}
	f(free, has, "copilot", "OPENAI_API_KEY", "") // it has its own
	f(free, has, "copilot", "COPILOT_PROVIDER_API_KEY", "sk")

	const token, model, answer = "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_MODEL", "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
	f(Given{Elsewhere: true}, nil, "claude", answer, "4096")
	f(Given{Elsewhere: true}, map[string]string{answer: "9000"}, "claude", answer, "")
	f(free, nil, "claude", answer, "")
	f(needs, nil, "claude", token, "")
	f(free, nil, "claude", token, "none")
	f(free, map[string]string{"OPENAI_API_KEY": "sk"}, "claude", token, "none") // which is nothing to it
	f(free, has, "claude", token, "")
	f(own, has, "claude", token, "k")
	f(needs, nil, "claude", model, "")
	f(Given{Chosen: true}, nil, "claude", model, "a")
	f(Given{Chosen: true}, has, "claude", model, "")
}

// TestOpencodeKeepsItsOwn: what the variable holds already stays.
func TestOpencodeKeepsItsOwn(t *testing.T) {
	s := start(t, map[string]string{"OPENCODE_CONFIG_CONTENT": `{"share":"disabled","provider":{"own":{"npm":"x"}}}`}, []string{"a", "b"}, "", "opencode")
	var got struct {
		Share    string
		Model    *string
		Provider map[string]struct{ Models map[string]any }
	}
	if err := json.Unmarshal([]byte(s.Env["OPENCODE_CONFIG_CONTENT"]), &got); err != nil {
		t.Fatal(err)
	}
	if _, own := got.Provider["own"]; !own || got.Share != "disabled" || got.Model != nil || len(got.Provider["laconic"].Models) != 2 {
		t.Errorf("%+v", got)
	}
}
