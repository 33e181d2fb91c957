package proxy

import (
	"regexp"
	"slices"

	"laconic/compact"
	"laconic/proxy/overflow"
)

// Shape is how much of a plan the chat template behind an upstream takes. A
// template is code of the model: what it refuses is known when it does.
type Shape int

// The shapes, in the order in which they are tried.
const (
	ShapeFull     Shape = iota // the plan as it is
	ShapeNoSlot                // no text stands for what left
	ShapeOriginal              // the client's list, repaired
)

func (s Shape) String() string { return [...]string{"full", "no slot", "original"}[s] }

// shaped is the policy that makes plans of a shape.
func shaped(p *compact.Policy, s Shape) *compact.Policy {
	if s == ShapeFull {
		return p
	}
	with := *p
	if s == ShapeNoSlot {
		with.Placement = compact.PlaceNone
	} else {
		with.Ladder = nil
	}
	return &with
}

// templateRefusals are the sentences by which chat templates, and the checks
// that hosts have in their place, refuse an order of roles.
var templateRefusals = []*regexp.Regexp{
	regexp.MustCompile(`(?i)conversation roles must alternate`),                                          // Mistral's, Llama's and Gemma's templates (llama.cpp#19851)
	regexp.MustCompile(`(?i)roles must alternate`),                                                       // Anthropic's older rule, Bedrock
	regexp.MustCompile(`(?i)^.{0,200}system message must be at the beginning`),                           // Qwen 3.5 and later (llama.cpp#20733)
	regexp.MustCompile(`(?i)^.{0,200}only user(?:, assistant)?(?:,? and \w+)* roles are supported`),      // opencode#5034
	regexp.MustCompile(`(?i)^unexpected role '\w+' after role '\w+'`),                                    // hosted Mistral (litellm#17761)
	regexp.MustCompile(`(?i)^expected last role user or tool`),                                           // mistral-common
	regexp.MustCompile(`(?i)^conversation must start with a user message`),                               // mistral-common
	regexp.MustCompile(`(?i)^a conversation must (?:start with a user message|alternate between user)`),  // Bedrock
	regexp.MustCompile(`(?i)please ensure that function (?:call|response) turn comes immediately after`), // Gemini
	regexp.MustCompile(`(?i)^.{0,200}no user query found in messages`),                                   // Qwen 3 templates
	regexp.MustCompile(`(?i)^.{0,200}jinja exception`),                                                   // llama.cpp, whatever the template says
}

// templateRefused tells whether an upstream refused the order of roles.
// llama.cpp answers with 500, all others with 400 or 422.
func templateRefused(status int, body []byte) bool {
	if status != 400 && status != 422 && status != 500 {
		return false
	}
	return slices.ContainsFunc(overflow.Texts(status, body), func(text string) bool {
		return slices.ContainsFunc(templateRefusals, func(r *regexp.Regexp) bool { return r.MatchString(text) })
	})
}
