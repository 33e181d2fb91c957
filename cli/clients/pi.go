package clients

import "encoding/json"

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
			"id": name, "name": name, "reasoning": false, "input": []string{"text"}, "contextWindow": Believed, "maxTokens": 8192,
			"cost": map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
		})
	}
	text, err := json.Marshal(map[string]any{"baseUrl": g.Base, "api": "openai-completions", "apiKey": "OPENAI_API_KEY", "models": models})
	if err != nil {
		return err // unreachable: all of it is plain
	}
	file, err := g.File("laconic.mjs", "export default function (pi) { pi.registerProvider(\"laconic\", "+string(text)+"); }\n")
	if err != nil {
		return err
	}
	s.Args = append(s.Args, "--extension", file, "--provider", "laconic")
	s.arg(g, g.Model, "--model")
	return nil
}
