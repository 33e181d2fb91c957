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
func startContinue(g Given, s *Started) error {
	switch {
	case g.has("--config"):
		return errOwnChoice
	case g.Model == "":
		return errNoModel
	}
	text := strings.Replace(Block{Text: continueYAML}.For(g.origin(), g.Model), "sk-…", cmp.Or(g.key(), anyKey), 1)
	file, err := g.File("continue.yaml", text)
	if err != nil {
		return err
	}
	s.Args = append(s.Args, "--config", file)
	s.say("Continue reads a configuration of this run in the place of yours (--config FILE is your own, with %s as its apiBase)", g.Base)
	return nil
}
