package clients

import (
	"fmt"
	"strconv"
)

// startCodex overrides Codex's configuration by flags.
func startCodex(g Given, s *Started) error {
	settings := []string{
		`model_provider="laconic"`, fmt.Sprint("model_context_window=", Believed), fmt.Sprint("model_auto_compact_token_limit=", Believed),
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
