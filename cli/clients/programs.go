package clients

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strconv"
	"strings"
)

// startClaude sets a token where Claude Code would ask for a login that nobody needs.
func startClaude(g Given, s *Started) error {
	s.Env["ANTHROPIC_BASE_URL"] = g.origin()
	const token = "ANTHROPIC_AUTH_TOKEN"
	const answer = "CLAUDE_CODE_MAX_OUTPUT_TOKENS"
	if g.Elsewhere && !g.set(answer) {
		s.Env[answer] = "4096" // other servers have small windows, and it would ask for 32,000 tokens
		s.say("Claude Code asks for answers of at most 4,096 tokens in this run (%s sets another limit)", answer)
	}
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
	return nil
}

// startCline gives Cline a file of providers in the place of the user's.
func startCline(g Given, s *Started) error {
	const variable, mode = "CLINE_PROVIDER_SETTINGS_PATH", "CLINE_SESSION_BACKEND_MODE"
	switch {
	case g.has("--provider", "-P") || g.set(variable):
		return errOwnChoice
	case g.Model == "" && !g.has("--model", "-m"):
		return errNoModel
	}
	const name = "openai-compatible"
	own := map[string]any{"provider": name, "model": g.Model, "baseUrl": g.Base}
	if key := g.key(); key != "" {
		own["apiKey"] = key
	}
	text, _ := json.Marshal(map[string]any{ // which is plain, and cannot fail
		"version": 1, "lastUsedProvider": name, "modes": map[string]any{},
		"providers": map[string]any{name: map[string]any{"settings": own, "updatedAt": "2026-01-01T00:00:00.000Z", "tokenSource": "manual"}},
	})
	file, err := g.File("providers.json", string(text))
	if err != nil {
		return err
	}
	s.Env[variable] = file
	if !g.set(mode) {
		s.Env[mode] = "local" // a process of Cline's that runs already has read another file
	}
	s.arg(g, name, "--provider")
	s.arg(g, g.Model, "--model", "-m")
	s.arg(g, "off", "--compaction")
	return nil
}

// startCodex overrides Codex's configuration by flags.
func startCodex(g Given, s *Started) error {
	settings := []string{
		`model_provider="laconic"`, fmt.Sprint("model_context_window=", believed), fmt.Sprint("model_auto_compact_token_limit=", believed),
	}
	for _, field := range []string{`name="laconic"`, `base_url="` + g.Base + `"`, `env_key="OPENAI_API_KEY"`, `supports_websockets=false`} {
		settings = append(settings, "model_providers.laconic."+field)
	}
	if g.Model != "" && !g.has("--model", "-m") {
		settings = append(settings, "model="+strconv.Quote(g.Model))
	}
	for _, setting := range settings {
		s.Args = append(s.Args, "-c", setting)
	}
	return nil
}

// startContinue gives Continue a configuration in the place of the user's.
func startContinue(g Given, s *Started) error {
	switch {
	case g.has("--config"):
		return errOwnChoice
	case g.Model == "":
		return errNoModel
	}
	text := strings.Replace(Blocks("continue", g.origin(), g.Model)[0].Text, "sk-…", cmp.Or(g.key(), anyKey), 1)
	file, err := g.File("continue.yaml", text)
	if err != nil {
		return err
	}
	s.Args = append(s.Args, "--config", file)
	s.say("Continue reads a configuration of this run in the place of yours (--config FILE is your own, with %s as its apiBase)", g.Base)
	return nil
}

func startCopilot(g Given, s *Started) error {
	if g.Model == "" && !g.set("COPILOT_MODEL") {
		return errNoModel
	}
	s.Env["COPILOT_PROVIDER_BASE_URL"] = g.Base
	if key := g.key(); key != "" {
		s.Env["COPILOT_PROVIDER_API_KEY"] = key
	}
	if g.Model != "" {
		s.Env["COPILOT_MODEL"] = g.Model
	}
	return nil
}

// startOpencode declares the provider in the variable that opencode reads last of
// all its configurations.
func startOpencode(g Given, s *Started) error {
	const variable = "OPENCODE_CONFIG_CONTENT"
	config, provider := map[string]any{}, map[string]any{}
	if own, ok := g.Lookup(variable); ok && strings.TrimSpace(own) != "" {
		if json.Unmarshal([]byte(own), &config) != nil || config == nil {
			return errors.New(variable + " is set, and is not plain JSON, so it stays as it is")
		}
		if has, ok := config["provider"].(map[string]any); ok {
			maps.Copy(provider, has)
		}
	}
	models := map[string]any{}
	for _, name := range g.all() {
		models[name] = map[string]any{"tool_call": true, "limit": map[string]int{"context": believed, "output": 8192}}
	}
	if len(models) == 0 {
		return errNoModel
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
	s.Env[variable] = string(text)
	return err
}

// startPi gives pi an extension that registers the provider.
func startPi(g Given, s *Started) error {
	switch {
	case g.has("--provider"):
		return errOwnChoice
	case g.Model == "" && !g.has("--model"):
		return errNoModel
	}
	var models []any
	for _, name := range g.all() {
		models = append(models, map[string]any{
			"id": name, "name": name, "reasoning": false, "input": []string{"text"}, "contextWindow": believed, "maxTokens": 8192,
			"cost": map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
		})
	}
	// All of it is plain, and cannot fail.
	text, _ := json.Marshal(map[string]any{"baseUrl": g.Base, "api": "openai-completions", "apiKey": "OPENAI_API_KEY", "models": models})
	file, err := g.File("laconic.mjs", "export default function (pi) { pi.registerProvider(\"laconic\", "+string(text)+"); }\n")
	if err != nil {
		return err
	}
	s.Args = append(s.Args, "--extension", file, "--provider", "laconic")
	s.arg(g, g.Model, "--model")
	return nil
}

func startQwen(g Given, s *Started) error {
	if g.Model == "" && !g.has("--model", "-m") {
		return errNoModel
	}
	s.arg(g, "openai", "--auth-type")
	s.arg(g, g.Base, "--openai-base-url")
	s.arg(g, g.Model, "--model", "-m")
	s.say("raise model.generationConfig.contextWindowSize in ~/.qwen/settings.json once (such as %d), so that Qwen Code does not compact by itself first", believed)
	return nil
}
