// Package overflow reads the refusals of upstreams: was a request refused for
// its size, and which limit does the refusal state.
//
// It promises:
//
//   - one row: every form of refusal is one row of a table, with the bodies it
//     was written for in testdata.
//   - errors alone: only the error of an answer is read. Text of a model or of a
//     client that quotes a refusal is never taken for one, neither in an answer nor
//     inside another error's sentence.
//   - no guess: a number is what the upstream wrote, or 0. The caller decides
//     whether to believe it. Words that no row knows may be refusals of length, and
//     are marked as that.
//   - total: any bytes have a result. The time is linear in their number.
//
// It also recognizes refusals of the order of roles, and of thinking that is bound
// to another conversation.
//
// The package is pure, and knows nothing of HTTP but the number of a status.
package overflow

import (
	"slices"
	"strconv"
	"strings"
)

// Kind says what was too large.
type Kind string

// The kinds. Limit and Prompt of a Refusal are tokens, but for Bytes and Count.
const (
	None   Kind = ""       // no refusal for size
	Prompt Kind = "prompt" // the prompt is longer than the window, or than a limit of its own
	Output Kind = "output" // the prompt has room, but not together with the answer that was asked for
	Quota  Kind = "quota"  // more tokens at once than a rate limit ever lets through: waiting is no cure
	Bytes  Kind = "bytes"  // the body has too many bytes
	Count  Kind = "count"  // the list has too many messages
)

// Refusal is what an upstream said. Numbers it did not tell are 0.
type Refusal struct {
	Kind Kind
	// Form is the name of the row that knew it.
	Form string
	// Limit is what the upstream accepts: of prompt and answer together where
	// it counts them together, else of prompt.
	Limit int
	// Alone: the limit is one on the prompt, below the window.
	Alone bool
	// PromptOnly: the limit is the window, and a prompt that is within it is taken
	// however long an answer is asked for.
	PromptOnly bool
	// Prompt is what it counted as the prompt.
	Prompt int
	// Unsure: no row knows the words, but they speak of length. Limit and Prompt are
	// then numbers of the sentence, and may mean anything.
	Unsure bool
	// Wordless: only the numbers of the sentence speak for that.
	Wordless bool
	// Shared: the memory that is full may be that of several requests at once, so
	// that the same prompt may have room a moment later.
	Shared bool
	// AtLeast: Prompt is where the upstream stopped to count (vLLM), so nothing
	// can be sized by it.
	AtLeast bool
	// Output is the room for an answer that it counted beside the prompt.
	Output int
	// Total is prompt and answer together, where the upstream states only their sum.
	Total int
}

// Said is what the error of an answer says.
type Said struct {
	status    int
	sentences []sentence
}

// Read reads the error of an answer. body is the body, not compressed any more, or
// the data of the first event of a stream (see FirstEvent).
func Read(status int, body []byte) Said {
	switch status {
	case 200, 400, 401, 413, 422, 429, 500: // a bill, a path and a pause have others
		return Said{status, sentences(status, body)}
	}
	return Said{status: status}
}

// Size returns how the answer refuses a request for its size; Kind None when it does
// not.
func (s Said) Size() Refusal {
	known := false // a sentence that refuses no size, whatever the status says
	for i := range s.sentences {
		known = known || s.status == 413 && ofRates().MatchString(s.sentences[i].text)
		r := s.sentences[i].read(s.status)
		if r.Kind != None {
			return r
		}
		known = known || r.Form != ""
	}
	if known {
		return Refusal{}
	}
	r := s.unsure()
	if r.Kind == None && s.status == 413 {
		// Cerebras sends nothing with it; gateways send a page of their own.
		r = Refusal{Kind: Bytes, Form: "entity too large"}
	}
	return r
}

// read tries the rows on one sentence.
func (s *sentence) read(status int) Refusal {
	if excluded().MatchString(s.text) {
		return Refusal{Form: "excluded"}
	}
	for _, row := range forms() {
		if status == 429 && row.kind != Quota || status == 401 && !row.denied {
			continue
		}
		if r, ok := row.read(s); ok {
			return r
		}
	}
	return Refusal{}
}

func (row *form) read(s *sentence) (Refusal, bool) {
	r := Refusal{Kind: row.kind, Form: row.name, AtLeast: row.atLeast, Alone: row.alone, PromptOnly: row.promptOnly, Shared: row.shared}
	if row.codes != nil && !slices.Contains(row.codes, s.code) && !slices.Contains(row.codes, s.kind) {
		return Refusal{}, false
	}
	if row.match == nil {
		r.Limit, r.Prompt = s.limit, s.prompt
		return r.judged(), true
	}
	m := row.match.FindStringSubmatch(s.text)
	if m == nil {
		return Refusal{}, false
	}
	input := 0 // of several kinds of input, each counted for itself (OpenRouter)
	for i, name := range row.match.SubexpNames() {
		if name == "" {
			continue
		}
		n := number(m[i])
		switch name[:1] {
		case "L":
			r.Limit = n
		case "K":
			r.Limit = n * 1000 // or 1,024: the smaller is within both
		case "P":
			r.Prompt = n
		case "O":
			r.Output = n
		case "T":
			r.Total = n
		case "A":
			input += n
		}
	}
	if r.Prompt == 0 && r.Total > r.Output && (r.Output > 0 || input > 0) {
		r.Prompt = r.Total - r.Output // messages, functions and whatever else is listed
	}
	if s.limit > 0 {
		r.Limit, r.Prompt = s.limit, s.prompt // fields of their own are surer than words
	}
	return r.judged(), true
}

// judged tells a prompt that is too long from an answer that is, and a rate that
// lets no such request through from one that is used up for now: there waiting
// is the cure. Kind None for the latter.
func (r Refusal) judged() Refusal {
	if r.Kind == Quota && (r.Limit == 0 || r.Total <= r.Limit) {
		return Refusal{Form: r.Form}
	}
	if r.Kind == Prompt && r.Output > 0 && r.Prompt > 0 && r.Prompt < r.Limit && !r.AtLeast {
		r.Kind = Output
	}
	return r
}

// number reads a number as upstreams write it, 1048576 or 1,048,576; 0 for
// anything else, and for what no limit can be.
func number(s string) int {
	n, err := strconv.ParseUint(strings.NewReplacer(",", "", "_", "").Replace(s), 10, 40)
	if err != nil {
		return 0
	}
	return int(n)
}
