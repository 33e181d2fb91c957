package clients

import (
	"regexp"
	"strings"

	pages "laconic/docs/clients"
)

// programs are the clients with a command, by name.
var programs = map[string]program{
	"claude-code": {
		commands: []string{"claude"}, start: startClaude, Upstream: "https://api.anthropic.com/v1",
		Advice: "Leave its window unset, which is 1,000,000 tokens for a model that it does not know",
	},
	"opencode":  {commands: []string{"opencode"}, start: startOpencode, wantsModel: true, Advice: "Set `limit.context` far above the real window"},
	"qwen-code": {commands: []string{"qwen"}, start: startQwen, wantsModel: true, Advice: "Raise `model.generationConfig.contextWindowSize`"},
	"pi":        {commands: []string{"pi"}, start: startPi, wantsModel: true, Advice: "Set `contextWindow` far above the real window"},
	"cline":     {commands: []string{"cline"}, start: startCline, wantsModel: true, Advice: "`--compaction off`"},
	"copilot":   {commands: []string{"copilot"}, start: startCopilot, wantsModel: true},
	"continue":  {commands: []string{"cn"}, start: startContinue, wantsModel: true},
	"codex": {
		commands: []string{"codex"}, start: startCodex, wantsModel: true,
		Advice: "`model_context_window` and `model_auto_compact_token_limit` are far above the real window",
	},
}

// Table is every client that has a page, in the order of the list of pages.
var Table = func() (all []Client) {
	for _, m := range listed.FindAllStringSubmatch(page("README"), -1) {
		all = append(all, Client{Title: m[1], Name: m[2], Version: m[3], Endpoint: m[4], Window: m[5], program: programs[m[2]]})
	}
	return all
}()

// listed is a row of the list of pages.
var listed = regexp.MustCompile("(?m)^\\| \\[(.+)\\]\\((.+)\\.md\\) \\| (.+) \\| `(.+)` \\| (.+) \\|$")

func page(name string) string {
	text, err := pages.Files.ReadFile(name + ".md")
	if err != nil {
		panic("BUG: the list names a page that there is not: " + err.Error())
	}
	return string(text)
}

// Block is a piece of settings.
type Block struct {
	Where string // a file, "shell", or the language of a program
	Text  string
}

// Blocks returns the settings of a client for an address and a model: the fenced
// blocks of its page, which name the language and then the file.
func Blocks(client, origin, model string) (all []Block) {
	for i, text := range strings.Split("\n"+page(client), "\n```") {
		if i%2 == 0 {
			continue
		}
		info, text, _ := strings.Cut(text, "\n")
		words := strings.Fields(info)
		text = strings.NewReplacer(shownOrigin, origin, ShownModel, model).Replace(text)
		all = append(all, Block{words[len(words)-1], text + "\n"})
	}
	return all
}
