package clients

import (
	"encoding/json"
	"errors"
	"maps"
	"strings"
)

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
		models[name] = map[string]any{"tool_call": true, "limit": map[string]int{"context": Believed, "output": 8192}}
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
