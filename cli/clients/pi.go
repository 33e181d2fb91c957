package clients

import "encoding/json"

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
	var models []any
	for _, name := range g.all() {
		models = append(models, map[string]any{
			"id": name, "name": name, "reasoning": false, "input": []string{"text"}, "contextWindow": Believed, "maxTokens": 8192,
			"cost": map[string]int{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
		})
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
