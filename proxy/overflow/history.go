package overflow

import (
	"regexp"
	"slices"
)

// roleRefusals matches the sentences by which chat templates, and the checks
// that hosts have in their place, refuse an order of roles.
var roleRefusals = expression(
	`(?i)(?:conversation roles must alternate|` + // Mistral's, Llama's and Gemma's templates (llama.cpp#19851)
		`roles must alternate|` + // Anthropic's older rule, Bedrock
		`^.{0,200}system message must be at the beginning|` + // Qwen 3.5 and later (llama.cpp#20733)
		`^.{0,200}only user(?:, assistant)?(?:,? and \w+)* roles are supported|` + // opencode#5034
		`^unexpected role '\w+' after role '\w+'|` + // hosted Mistral (litellm#17761)
		`^expected last role user or tool|` + // mistral-common
		`^conversation must start with a user message|` + // mistral-common
		`^a conversation must (?:start with a user message|alternate between user)|` + // Bedrock
		`please ensure that function (?:call|response) turn comes immediately after|` + // Gemini
		`^.{0,200}no user query found in messages|` + // Qwen 3 templates
		`^.{0,200}jinja exception)`, // llama.cpp, whatever the template says
)

// RefusesRoles reports whether the answer refuses the order of roles. llama.cpp
// answers with 500, all others with 400 or 422.
func (s Said) RefusesRoles() bool { return s.status != 200 && s.oneOf(roleRefusals) }

// Thinking is what is wrong with the thinking in a history.
type Thinking int

const (
	ThinkingAccepted Thinking = iota // nothing, as far as an answer says
	ThinkingMisbound                 // some was written for another history
	ThinkingMissing                  // some is missing
)

// Thinking returns what the answer says is wrong with the thinking in the history.
func (s Said) Thinking() Thinking {
	switch {
	case s.oneOf(thinkingMisbound):
		return ThinkingMisbound
	case s.oneOf(thinkingMissing):
		return ThinkingMissing
	}
	return ThinkingAccepted
}

// thinkingMisbound matches the sentences by which thinking is refused that was
// written for another history.
var thinkingMisbound = expression(
	`(?i)(?:bound to a different conversation|` +
		"invalid [`'\"]?signature[`'\"]? in [`'\"]?thinking[`'\"]? block)",
)

// thinkingMissing matches the sentences by which a history is refused that lacks
// thinking.
var thinkingMissing = expression(
	"(?i)(?:expected [`'\"]?thinking[`'\"]? or [`'\"]?redacted_thinking|" +
		"must start with a thinking block)",
)

// oneOf reports whether the answer is an error with a sentence that an expression
// matches.
func (s Said) oneOf(expr func() *regexp.Regexp) bool {
	switch s.status {
	case 200, 400, 422, 500:
		return slices.ContainsFunc(s.sentences, func(said sentence) bool { return expr().MatchString(said.text) })
	}
	return false
}
