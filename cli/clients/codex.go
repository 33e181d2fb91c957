package clients

import (
	"fmt"
	"strconv"
	"strings"
)

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
func startCodex(g Given, s *Started) error { return codexFlags(g, s, `supports_websockets=false`) }

func startCodexChat(g Given, s *Started) error { return codexFlags(g, s, `wire_api="chat"`) }

func codexFlags(g Given, s *Started, own string) error {
	settings := []string{
		`model_provider="laconic"`, fmt.Sprint("model_context_window=", Believed), fmt.Sprint("model_auto_compact_token_limit=", Believed),
	}
	for _, field := range []string{`name="laconic"`, `base_url="` + g.Base + `"`, `env_key="OPENAI_API_KEY"`, own} {
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

// codexMinor returns the minor version of Codex 0, as of "codex-cli 0.80.0".
func codexMinor(printed string) (minor int, ok bool) {
	_, version, found := strings.Cut(strings.TrimSpace(printed), " 0.")
	text, _, _ := strings.Cut(version, ".")
	minor, err := strconv.Atoi(text)
	return minor, found && err == nil
}
