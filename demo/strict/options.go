package strict

import "time"

// Options is the whole configuration of an Upstream. The zero value works.
type Options struct {
	// Limit is the hard limit of the model in tokens of prompt, plus the output when the request asks for an
	// amount. 0 means 128,000; a negative value means no limit.
	Limit int

	// Shape adds rules about the order of roles. "" means OpenAI.
	Shape Shape

	// Count is the cost of one message in tokens, envelope included. nil means Tokens.
	// It is called from several goroutines at once.
	Count func(Message) int

	// CountTools is the cost of the JSON of tools and functions. nil means ToolTokens.
	CountTools func(json []byte) int

	// MaxID is the longest id of a tool call, in characters. 0 means 40, OpenAI's limit; some servers that
	// speak the same API hand out longer ones. A negative value means no limit.
	MaxID int

	// Reply makes the answer to a request that was accepted. nil means a short sentence.
	// It is called from several goroutines at once. SetReply replaces it.
	Reply func(*Request) Reply

	// Thinks makes the thinking that an answer carries: signed, and bound to all that stands before it, as
	// Anthropic's are; requests whose thinking stands behind anything else are refused. "" means no thinking
	// in this answer, a nil func none in any.
	Thinks func(*Request) string

	// Latency is the pause between the chunks of a stream, and once before an answer that is not streamed.
	// A longer silence before the first chunk is made by a Reply that waits.
	Latency time.Duration

	// Key is the API key that requests must carry as a bearer token. "" means that any request may pass.
	Key string

	// Models is what GET /models lists. nil means gpt-4o and gpt-4o-mini.
	// Chat completions are answered for every model name.
	Models []string

	// MaxBody is the largest body that is read, in bytes; longer ones are drained and answered 413.
	// 0 means 256 MiB.
	MaxBody int64

	// Keep is how many requests are remembered (0 means 1,024) and KeepBytes how many bytes of bodies
	// (0 means 64 MiB). The oldest go first; the newest always stays.
	Keep      int
	KeepBytes int
}

func (o Options) withDefaults() Options {
	if o.Limit == 0 {
		o.Limit = 128_000
	}
	if o.Shape == "" {
		o.Shape = OpenAI
	}
	if o.Count == nil {
		o.Count = Tokens
	}
	if o.CountTools == nil {
		o.CountTools = ToolTokens
	}
	if o.MaxID == 0 {
		o.MaxID = 40 // agno-agi/agno#5382
	}
	if o.Reply == nil {
		o.Reply = func(*Request) Reply { return Reply{Text: "This is a short answer of the upstream."} }
	}
	if o.Models == nil {
		o.Models = []string{"gpt-4o", "gpt-4o-mini"}
	}
	if o.MaxBody == 0 {
		o.MaxBody = 256 << 20
	}
	if o.Keep == 0 {
		o.Keep = 1024
	}
	if o.KeepBytes == 0 {
		o.KeepBytes = 64 << 20
	}
	return o
}
