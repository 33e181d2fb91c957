package handover

import (
	_ "embed"
	"strings"
)

// prompt is how an agent asks for a summary: a row of prompts.txt.
type prompt struct {
	agent             Agent
	in, words, source string
}

// prompts are the rows of prompts.txt.
var prompts = func() (all []prompt) {
	for line := range strings.Lines(promptTable) {
		if line = strings.TrimSpace(line); line == "" || line[0] == '#' {
			continue
		}
		f := strings.Split(line, " | ")
		all = append(all, prompt{Agent(f[0]), f[1], f[2], f[3]})
	}
	return all
}()

//go:embed prompts.txt
var promptTable string
