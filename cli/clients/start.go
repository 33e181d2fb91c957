package clients

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Given is what is known where a program is started.
type Given struct {
	Base string // of the proxy, which ends in /v1
	// Key is the one that the proxy wants; "": it wants none. AnyKey says that the
	// upstream wants none of the program either, though most do not start without one.
	Key    string
	AnyKey bool
	// Model is the one to use; "": the program's own choice, of Models. Chosen says
	// that it was named for this run, and not by the configuration.
	Model  string
	Chosen bool
	// List returns the models that the upstream lists; none: it lists none.
	List   func() []string
	Args   []string // of the program, as the user wrote them
	Lookup func(name string) (string, bool)
	// File writes a file that lives as long as the program, and returns its path.
	File func(name, text string) (path string, err error)
	// Version returns what the program prints for --version; "": nothing.
	Version func() string
}

// has reports whether the user's own arguments have one of the flags.
func (g Given) has(flags ...string) bool {
	for _, arg := range g.Args {
		name, _, _ := strings.Cut(arg, "=")
		if arg == "--" {
			return false
		}
		if slices.Contains(flags, name) {
			return true
		}
	}
	return false
}

// anyKey is the key where every word is one.
const anyKey = "none"

// set reports whether one of the variables holds something.
func (g Given) set(variables ...string) bool {
	return slices.ContainsFunc(variables, func(name string) bool { v, _ := g.Lookup(name); return v != "" })
}

// key returns the key that the program uses; "": there is none.
func (g Given) key() string {
	own, _ := g.Lookup("OPENAI_API_KEY")
	switch {
	case g.Key != "":
		return g.Key
	case own == "" && g.AnyKey:
		return anyKey
	}
	return own
}

// origin is the base without its /v1.
func (g Given) origin() string { return strings.TrimSuffix(g.Base, "/v1") }

// Started is what a program is started with.
type Started struct {
	Env  map[string]string // over the environment that it would have
	Args []string          // before the user's own
	// Say is what the user should know, or has to do, in a sentence each.
	Say []string
}

// Start returns what a program is started with. c is nil for one that the table does
// not know: it gets the variables that libraries read.
func Start(c *Client, g Given) Started {
	s := Started{Env: map[string]string{}}
	if key := g.key(); g.Key != "" || key == anyKey {
		s.Env["OPENAI_API_KEY"] = key
	}
	for i := range Table {
		for _, name := range Table[i].Variables {
			s.Env[name] = g.Base
		}
	}
	if c == nil {
		return s
	}
	if c.Name == "codex" {
		c = codexOf(g.Version())
	}
	if c.wantsModel && g.Model == "" {
		if all := g.List(); len(all) == 1 {
			g.Model = all[0]
		}
	}
	if c.start != nil {
		c.start(g, &s)
	}
	if !c.Compacted() {
		s.say("requests of %s go to %s, which is not compacted yet: they pass through as they are", c.Title, c.Endpoint)
	}
	return s
}

func (s *Started) say(format string, args ...any) {
	s.Say = append(s.Say, fmt.Sprintf(format, args...))
}

// unchosen says that the user has to choose a model.
func (s *Started) unchosen(c string) {
	s.say("%s needs the name of a model: laconic run --model NAME -- …", c)
}

// startOpencode declares the provider in the variable that opencode reads last of
// all its configurations.
func startOpencode(g Given, s *Started) {
	type limit struct {
		Context int `json:"context"`
		Output  int `json:"output"`
	}
	type model struct {
		Tools bool  `json:"tool_call"`
		Limit limit `json:"limit"`
	}
	const variable = "OPENCODE_CONFIG_CONTENT"
	config, provider := map[string]any{}, map[string]any{}
	if own, ok := g.Lookup(variable); ok && strings.TrimSpace(own) != "" {
		if json.Unmarshal([]byte(own), &config) != nil || config == nil {
			s.say("%s is set, and is not plain JSON: it stays as it is, and opencode is not told of the proxy", variable)
			return
		}
		if has, ok := config["provider"].(map[string]any); ok {
			maps.Copy(provider, has)
		}
	}
	models := map[string]model{}
	for _, name := range g.all() {
		models[name] = model{Tools: true, Limit: limit{Context: Believed, Output: 8192}}
	}
	if len(models) == 0 {
		s.unchosen("opencode")
		return
	}
	provider["laconic"] = map[string]any{
		"npm": "@ai-sdk/openai-compatible", "name": "Laconic",
		"options": map[string]string{"baseURL": g.Base, "apiKey": "{env:OPENAI_API_KEY}"}, "models": models,
	}
	config["provider"] = provider
	switch {
	case g.Model != "":
		config["model"] = "laconic/" + g.Model
	case !g.has("--model", "-m"):
		s.say("choose a model of laconic/… in opencode, or here: laconic run --model NAME -- opencode")
	}
	text, err := json.Marshal(config)
	if err != nil {
		s.say("opencode is not told of the proxy: %v", err) // unreachable: all of it came from JSON
		return
	}
	s.Env[variable] = string(text)
}

// all are the models that a program can be told of: the chosen one, and those that
// the upstream lists.
func (g Given) all() []string {
	listed := g.List()
	if g.Model == "" || slices.Contains(listed, g.Model) {
		return listed
	}
	return append([]string{g.Model}, listed...)
}

// startPi gives pi an extension that registers the provider.
func startPi(g Given, s *Started) {
	if g.has("--provider") {
		s.say("--provider is pi's own choice: it is not told of the proxy")
		return
	}
	if g.Model == "" && !g.has("--model") {
		s.unchosen("pi")
		return
	}
	type model struct {
		ID        string         `json:"id"`
		Name      string         `json:"name"`
		Reasoning bool           `json:"reasoning"`
		Input     []string       `json:"input"`
		Cost      map[string]int `json:"cost"`
		Window    int            `json:"contextWindow"`
		Most      int            `json:"maxTokens"`
	}
	var models []model
	for _, name := range g.all() {
		models = append(models, model{name, name, false, []string{"text"}, map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}, Believed, 8192})
	}
	text, err := json.Marshal(map[string]any{"baseUrl": g.Base, "api": "openai-completions", "apiKey": "OPENAI_API_KEY", "models": models})
	var file string
	if err == nil {
		file, err = g.File("laconic.mjs", "export default function (pi) { pi.registerProvider(\"laconic\", "+string(text)+"); }\n")
	}
	if err != nil {
		s.say("pi is not told of the proxy: %v", err)
		return
	}
	s.Args = append(s.Args, "--extension", file, "--provider", "laconic")
	if !g.has("--model") {
		s.Args = append(s.Args, "--model", g.Model)
	}
}

func startQwen(g Given, s *Started) {
	if !g.has("--auth-type") {
		s.Args = append(s.Args, "--auth-type", "openai")
	}
	if !g.has("--openai-base-url") {
		s.Args = append(s.Args, "--openai-base-url", g.Base)
	}
	switch {
	case g.Model != "" && !g.has("--model", "-m"):
		s.Args = append(s.Args, "--model", g.Model)
	case g.Model == "" && !g.has("--model", "-m"):
		s.unchosen("Qwen Code")
	}
	s.say("raise model.generationConfig.contextWindowSize in ~/.qwen/settings.json once (such as %d), so that Qwen Code does not compact by itself first", Believed)
}

func startCopilot(g Given, s *Started) {
	s.Env["COPILOT_PROVIDER_BASE_URL"] = g.Base
	if key := g.key(); key != "" {
		s.Env["COPILOT_PROVIDER_API_KEY"] = key
	}
	if _, chosen := g.Lookup("COPILOT_MODEL"); g.Model != "" {
		s.Env["COPILOT_MODEL"] = g.Model
	} else if !chosen {
		s.unchosen("Copilot CLI")
	}
}

// oldestWithoutChat is the first minor version of Codex 0 without chat completions:
// 0.94.0 takes wire_api = "chat", 0.95.0 refuses it (openai/codex#10157).
const oldestWithoutChat = 95

// codexOf returns the row of a version of Codex, as it prints it.
func codexOf(printed string) *Client {
	if minor, ok := codexMinor(printed); ok && minor < oldestWithoutChat {
		return Named("codex-0.80")
	}
	return Named("codex")
}

// startCodex overrides Codex's configuration by flags.
func startCodex(g Given, s *Started) { codexFlags(g, s, `supports_websockets=false`) }

func startCodexChat(g Given, s *Started) {
	codexFlags(g, s, `wire_api="chat"`)
	s.Args = append(s.Args, "-c", fmt.Sprint("model_context_window=", Believed), "-c", fmt.Sprint("model_auto_compact_token_limit=", Believed))
}

func codexFlags(g Given, s *Started, own string) {
	settings := []string{`model_provider="laconic"`}
	for _, field := range []string{`name="laconic"`, `base_url="` + g.Base + `"`, `env_key="OPENAI_API_KEY"`, own} {
		settings = append(settings, "model_providers.laconic."+field)
	}
	if g.Model != "" && !g.has("--model", "-m") {
		settings = append(settings, "model="+strconv.Quote(g.Model))
	}
	for _, setting := range settings {
		s.Args = append(s.Args, "-c", setting)
	}
}

// codexMinor returns the minor version of Codex 0, as of "codex-cli 0.80.0".
func codexMinor(printed string) (minor int, ok bool) {
	_, version, found := strings.Cut(strings.TrimSpace(printed), " 0.")
	text, _, _ := strings.Cut(version, ".")
	minor, err := strconv.Atoi(text)
	return minor, found && err == nil
}

// startClaude sets a token where Claude Code would ask for a login that nobody needs.
func startClaude(g Given, s *Started) {
	s.Env["ANTHROPIC_BASE_URL"] = g.origin()
	if !g.set("ENABLE_TOOL_SEARCH") {
		s.Env["ENABLE_TOOL_SEARCH"] = "true" // which a base URL of one's own switches off
	}
	const token = "ANTHROPIC_AUTH_TOKEN"
	switch {
	case g.Key != "":
		s.Env[token] = g.Key
	case g.AnyKey && !g.set(token, "ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"):
		s.Env[token] = anyKey
		s.say("Claude Code uses no login in this run, because the upstream wants none (%s would be sent)", token)
	}
	// Its own choice is among Anthropic's models, which a configuration does not replace.
	if g.Chosen && !g.has("--model") && !g.set("ANTHROPIC_MODEL") {
		s.Env["ANTHROPIC_MODEL"] = g.Model
	}
}

// startCline gives Cline a file of providers in the place of the user's.
func startCline(g Given, s *Started) {
	const variable, mode = "CLINE_PROVIDER_SETTINGS_PATH", "CLINE_SESSION_BACKEND_MODE"
	switch {
	case g.has("--provider", "-P") || g.set(variable):
		s.say("the provider is Cline's own choice: it is not told of the proxy")
		return
	case g.Model == "" && !g.has("--model", "-m"):
		s.unchosen("Cline")
		return
	}
	type settings struct {
		Provider string `json:"provider"`
		Key      string `json:"apiKey,omitempty"`
		Model    string `json:"model,omitempty"`
		Base     string `json:"baseUrl"`
	}
	type provider struct {
		Settings settings `json:"settings"`
		Updated  string   `json:"updatedAt"`
		Source   string   `json:"tokenSource"`
	}
	const name = "openai-compatible"
	file, err := g.write("providers.json", map[string]any{
		"version": 1, "lastUsedProvider": name, "modes": map[string]any{},
		"providers": map[string]provider{name: {settings{name, g.key(), g.Model, g.Base}, "2026-01-01T00:00:00.000Z", "manual"}},
	})
	if err != nil {
		s.say("Cline is not told of the proxy: %v", err)
		return
	}
	s.Env[variable] = file
	if !g.set(mode) {
		s.Env[mode] = "local" // a process of Cline's that runs already has read another file
	}
	s.Args = append(s.Args, "--provider", name)
	if !g.has("--model", "-m") {
		s.Args = append(s.Args, "--model", g.Model)
	}
	if !g.has("--compaction") {
		s.Args = append(s.Args, "--compaction", "off")
	}
}

// startContinue gives Continue a configuration in the place of the user's.
func startContinue(g Given, s *Started) {
	switch {
	case g.has("--config"):
		s.say("--config is Continue's own choice: it is not told of the proxy")
		return
	case g.Model == "":
		s.unchosen("Continue")
		return
	}
	type model struct {
		Name     string   `json:"name"`
		Provider string   `json:"provider"`
		Model    string   `json:"model"`
		Base     string   `json:"apiBase"`
		Key      string   `json:"apiKey,omitempty"`
		Roles    []string `json:"roles"`
	}
	file, err := g.write("continue.yaml", map[string]any{ // JSON is YAML
		"name": "Laconic", "version": "0.0.1", "schema": "v1",
		"models": []model{{g.Model, "openai", g.Model, g.Base, g.key(), []string{"chat", "edit", "apply"}}},
	})
	if err != nil {
		s.say("Continue is not told of the proxy: %v", err)
		return
	}
	s.Args = append(s.Args, "--config", file)
	s.say("Continue reads a configuration of this run in the place of yours (--config FILE is your own, with %s as its apiBase)", g.Base)
}

// write writes a file of JSON.
func (g Given) write(name string, v any) (path string, err error) {
	text, err := json.Marshal(v)
	if err != nil {
		return "", err // unreachable: all of it is strings
	}
	return g.File(name, string(text))
}
