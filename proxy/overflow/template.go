package overflow

import (
	"regexp"
	"strings"
)

// A Template is what the chat template behind an upstream does not take of a list,
// or the check that a host has in its place.
type Template int

// Lists that a template refuses. A refusal is matched against them in this order, so
// OtherOrder, which takes the rest, is the last. Each has a row in templates.
const (
	TemplateTaken Template = iota // nothing, as far as an answer says
	OtherThinking                 // thinking that was written for another history
	NoThinking                    // a history without the thinking that belongs to it
	SecondSystem                  // a system message after the first
	AnySystem                     // a system message
	SeveralCalls                  // several calls in a message
	LongIDs                       // ids that are not nine letters and digits
	SameTurns                     // two turns of one role, or a list that begins with an answer
	AnyTools                      // tools, calls and their results
	OtherOrder                    // anything else in the order of the messages
)

// OfThinking reports whether it is about thinking, which no template looks at.
func (t Template) OfThinking() bool { return t == OtherThinking || t == NoThinking }

// template is one row of templates.
type template struct {
	name  string
	hint  string // for the operator, where it cannot be cured
	match func() *regexp.Regexp
}

// templates are the rows. The last one is for whatever else is said as
// a template says it. A row matches what the template said, which
// llama.cpp writes after the lines of the template that said it.
var templates = [...]template{
	OtherThinking: {match: expression("(?i)bound to a different conversation|invalid [`'\"]?signature[`'\"]? in [`'\"]?thinking[`'\"]? block")},
	NoThinking:    {match: expression("(?i)expected [`'\"]?thinking[`'\"]? or [`'\"]?redacted_thinking|must start with a thinking block")},
	SecondSystem: {
		"one system message", "The model's chat template takes one system message, at the beginning; set system_messages: fold, or use a template that takes more.",
		said(`system message must be at the beginning|` + // Qwen 3.5 and later (llama.cpp#20733)
			`only user(?:, assistant)? and \w+ roles are supported, (?:with the exception of an initial|got '?(?:system|developer))|` + // Mistral Nemo, Ministral (opencode#5034)
			`^unexpected role '(?:system|developer)' after role|` + // hosted Mistral (litellm#17761)
			`^invalid message role$`), // Apertus
	},
	AnySystem: {
		"no system message", "The model's chat template takes no system message; use a template that takes one.",
		said(`system role (?:is )?not supported|` + // Gemma 2
			`only user and assistant roles are supported|` + // Mistral 7B
			`role '?system'? is not supported|` +
			`input should be 'user' or 'assistant'`), // servers that check with pydantic
	},
	SeveralCalls: {
		"single calls", "The model's chat template takes one tool call in a message; ask for parallel_tool_calls: false.",
		said(`only supports single tool-calls at once`), // Llama 3.1 to 3.3
	},
	LongIDs: {
		"ids of nine letters", "The model's chat template takes ids of calls that are nine letters and digits.",
		said(`tool call ids? should be alphanumeric strings with length 9|` + // Mistral's templates
			`tool call id .{0,80}must be a-z, A-Z, 0-9, with a length of 9`), // mistral-common
	},
	SameTurns: {
		"alternating roles", "The model's chat template wants users and assistants to alternate, and may take no tool calls between them; use a template that does.",
		said(`roles must alternate|` + // Mistral's and Gemma's templates (llama.cpp#19851), Anthropic's older rule, Bedrock
			`^unexpected role '\w+' after role '\w+'|` + // hosted Mistral (litellm#17761)
			`conversation must (?:start with a user message|alternate between user)`), // mistral-common, Bedrock
	},
	AnyTools: {
		"no tools", "The model, or its chat template, takes no tools; use one that does, or start llama-server with --jinja.",
		said(`does not support tools|` + // Ollama
			`tools param requires --jinja|` + // llama.cpp, older
			`^"auto" tool choice requires`), // vLLM
	},
	OtherOrder: {
		"other", "The model's chat template refused the list; what it said is in its answer.",
		said(`only (?:\w+,? (?:and )?)+roles are supported|` +
			`^expected last role user or tool|` + // mistral-common
			`please ensure that function (?:call|response) turn comes immediately after|` + // Gemini
			`no user query found in messages`), // Qwen 3.5
	},
}

// said returns the expression for what a template says.
func said(words string) func() *regexp.Regexp { return expression(`(?is)^.{0,200}?(?:` + words + `)`) }

// raised is what llama.cpp and LM Studio put before the words of a template.
const raised = "jinja exception: "

// Template returns what the answer says that the template does not take. llama.cpp
// answers with 400 or 500, LM Studio with an event under 200, others with 400 or 422.
func (s Said) Template() Template {
	for i := range s.sentences {
		text, exception := s.sentences[i].text, false
		if at := strings.LastIndex(strings.ToLower(text), raised); at >= 0 {
			text, exception = text[at+len(raised):], true
		}
		for t := OtherThinking; t <= OtherOrder; t++ {
			if templates[t].match().MatchString(text) || exception && t == OtherOrder {
				return t
			}
		}
	}
	return TemplateTaken
}

// String returns what the template asks for in a few words; "" for nothing.
func (t Template) String() string { return templates[t].name }

// Hint returns what would help, in a sentence.
func (t Template) Hint() string { return templates[t].hint }
