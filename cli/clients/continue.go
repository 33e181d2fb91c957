package clients

import (
	"cmp"
	"strings"
)

const continueYAML = `name: Laconic
version: 0.0.1
schema: v1
models:
  - name: qwen3-coder
    provider: openai
    model: qwen3-coder
    apiBase: http://127.0.0.1:7280/v1
    apiKey: sk-…
    roles: [chat, edit, apply]
`

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
	text := strings.Replace(Block{Text: continueYAML}.For(g.origin(), g.Model), "sk-…", cmp.Or(g.key(), anyKey), 1)
	file, err := g.File("continue.yaml", text)
	if err != nil {
		s.say("Continue is not told of the proxy: %v", err)
		return
	}
	s.Args = append(s.Args, "--config", file)
	s.say("Continue reads a configuration of this run in the place of yours (--config FILE is your own, with %s as its apiBase)", g.Base)
}
