package wire

// messages is the API of messages.
type messages struct{ api }

// Messages is the API of messages, as Anthropic and all who are compatible with it
// speak it.
var Messages Wire = &messages{api{
	name: "messages", model: "message.model", last: `"message_stop"`, stop: "stop_reason", piece: "content_block", apart: true,
	// The first events say who answers and what the prompt is taken to cost.
	opening: []string{"message_start", "ping"},
}}
