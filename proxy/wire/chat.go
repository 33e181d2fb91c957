package wire

// chat is the API of chat completions.
type chat struct {
	api
	list    string // the name of the list in a request
	exceeds string // the sentence by which a list is too long, before the numbers
}

// Chat is the API of chat completions, as OpenAI and all who are compatible with
// it speak it.
var Chat Wire = &chat{
	api:  api{name: "chat", model: "model", stop: "finish_reason", piece: `"delta"`},
	list: "messages",
}
