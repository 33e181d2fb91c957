package demo

import (
	"encoding/json"

	"github.com/sashabaranov/go-openai"
)

const model = "gpt-4o"

const systemPrompt = `You are a careful software engineer who works in a terminal, in the repository at /src/parceld.

How you work
- Look before you change: read the files that matter, search for callers, run the tests once before you touch anything.
- Make the smallest change that fixes the cause, not the symptom. Add a test that fails before it and passes after it.
- Run the tests that concern your change after every change, and everything the CI runs before you say that you are done.
- Never invent the content of a file or the output of a command. If you have not seen it in this conversation, look.
- Independent calls go into one message, so that they can run side by side.

Limits
- No new dependencies, no network, no changes outside the repository, no commits. The person reviews and commits.
- Public behaviour (HTTP API, JSON, headers, signatures, flags) changes only when the person asked for it; say so when it does.
- Secrets that you come across are not repeated in an answer.

How you write
- Short sentences. Say what you found, what you do next and why, in that order.
- When you finish, list what changed and where, what you verified and how, and what you left alone on purpose.
- Name files with their path from the repository root. Quote code with backticks.

Environment: linux/amd64, go 1.24, git, make. Output of commands longer than 16 kB is cut in the middle. Today is 2025-03-04.`

// tools is what the agent may call.
var tools = []openai.Tool{
	tool("list_dir", "List all files below a folder with their sizes.", `{
		"path": {"type": "string", "description": "folder from the repository root, . for everything"}}`, "path"),
	tool("read_file", "Read a file, or some lines of it. Every line comes with its number.", `{
		"path": {"type": "string", "description": "file from the repository root"},
		"from": {"type": "integer", "description": "first line, counted from 1; the beginning if left out"},
		"to": {"type": "integer", "description": "last line; the end if left out"}}`, "path"),
	tool("grep", "Search files for a regular expression (RE2). Answers path:line:text for every match.", `{
		"pattern": {"type": "string", "description": "the expression"},
		"path": {"type": "string", "description": "file or folder to search, . for everything"}}`, "pattern", "path"),
	tool("edit_file", "Replace one piece of text in a file. The old text must occur exactly once; take enough lines along.", `{
		"path": {"type": "string", "description": "file from the repository root"},
		"old": {"type": "string", "description": "the text as it stands, with its indentation"},
		"new": {"type": "string", "description": "the text that replaces it"}}`, "path", "old", "new"),
	tool("write_file", "Write a whole file, new or not.", `{
		"path": {"type": "string", "description": "file from the repository root"},
		"content": {"type": "string", "description": "everything that the file shall hold"}}`, "path", "content"),
	tool("run", "Run a command with sh in the repository root. Answers what it printed and how it ended.", `{
		"command": {"type": "string", "description": "the command line"}}`, "command"),
}

func tool(name, description, properties string, required ...string) openai.Tool {
	schema, err := json.Marshal(map[string]any{
		"type": "object", "properties": json.RawMessage(properties), "required": required, "additionalProperties": false,
	})
	if err != nil {
		panic("BUG: the schema of " + name + " is not JSON: " + err.Error())
	}
	return openai.Tool{Type: openai.ToolTypeFunction, Function: &openai.FunctionDefinition{
		Name: name, Description: description, Parameters: json.RawMessage(schema),
	}}
}
