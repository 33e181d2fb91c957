package summarize

import (
	"net/url"
	"time"

	"laconic/compact"
	"laconic/proxy/access"
	"laconic/proxy/summarize/prompt"
)

// Options describe the model that writes summaries.
type Options struct {
	// Upstream is the base URL of its API, as in https://api.openai.com/v1.
	// Required; any OpenAI-compatible endpoint.
	Upstream *url.URL
	// Model is its name there. Required.
	Model string
	// Key is sent to it; empty: no credential, or the client's.
	Key access.Secret
	// ClientCredential sends the credential of the request that a summary is for,
	// instead of Key. Not with client keys.
	ClientCredential bool
	// Wait is how long a request may wait for its summary; 0: no request waits.
	Wait time.Duration
	// WaitUnfolded is the same under a policy that is not folded. Its gap is
	// another one at every request, so that no summary can be there before.
	WaitUnfolded time.Duration
	// Timeout is the time for a summary as a whole; 0: 60 s.
	Timeout time.Duration
	// Window is the model's window in tokens, at least 4096: in a smaller one
	// instructions, the summary so far and the answer leave no room for anything to
	// summarize. 0: compact.DefaultWindow.
	Window int
	// Mask masks secrets in what is sent and stored.
	Mask bool
	// Counter counts for the model. Required.
	Counter compact.Counter
}

// mostJobs is how many summaries are made at once. Further ones are not made.
const mostJobs = 8

// DefaultUnfoldedWait is a WaitUnfolded for those without a wish.
const DefaultUnfoldedWait = 20 * time.Second

// A model's window is divided so:
//
//	prompt                                   answer
//	instructions, task | so far | a piece  | summary | slack |
//
// The summary so far is as long as an answer at most, for each piece adds to
// the answer before it. A fifth is left for errors of the count.

// answerSlack is what a model may write beside a summary of the wanted size, its
// reasoning above all, which many servers count in. Of a small window it is an
// eighth: servers refuse a request whose prompt and answer are above the window.
const answerSlack = 4096

// allowed returns what a model may write for an answer of so many tokens.
func (o *Options) allowed(answer int) int { return answer + min(answerSlack, o.Window/8) }

// room returns what a piece of the transcript may cost.
func (o *Options) room(task string, answer int) int {
	cost := costOf(o.Counter)
	p := prompt.Ask(task, "", "", prompt.Words(answer))
	return o.Window*8/10 - cost(p.System) - cost(p.User) - answer - o.allowed(answer)
}
