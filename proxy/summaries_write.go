package proxy

import (
	"context"
	"slices"

	"laconic/compact"
	"laconic/proxy/summarize/prompt"
	"laconic/proxy/summarize/redact"
)

// write asks the model, piece by piece.
func (j *job) write(ctx context.Context) (string, error) {
	o := j.s.o
	cost := costOf(o.Counter)
	prior, spans := j.prior(ctx)
	size := j.size - prompt.Frame(j.label, j.cost)
	answer := o.longest(size)
	long := ""
	if cost(prior) > answer {
		// It was made for a larger window, or with much that it had lost: it
		// is read once, as what comes first.
		long, prior = prior, ""
	}
	pieces, err := j.pieces(ctx, long, spans, answer)
	if err != nil {
		return "", err
	}
	users := usersOf(j.spans)
	j.spans, spans = nil, nil // what is left of the request's body
	held := textBytes([][]compact.Message{users})
	for _, piece := range pieces {
		held += len(piece)
	}
	j.seat.Shrink(int64(held))
	j.info.Pieces = len(pieces)
	text := prior
	for _, piece := range pieces {
		source := j.cost(piece)
		j.info.SourceTokens += source
		if text, err = j.ask(ctx, text, piece, source+j.cost(text), answer); err != nil {
			return "", err
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	rules, names := prompt.Lost(users, text, o.Mask)
	return prompt.With(text, rules, names, size, j.cost), nil
}

// A job asks at most mostTries times for each of at most mostPieces pieces.
const (
	mostPieces = 8
	mostTries  = 2
)

// prior is the newest summary of an earlier epoch that there is, and the
// messages that came since.
func (j *job) prior(ctx context.Context) (string, []compact.Message) {
	for n := len(j.gap.keys) - 1; n > 0; n-- {
		if text, ok := j.s.o.Store.Get(ctx, j.gap.keys[n-1]); ok {
			j.info.Updated = true
			return text, slices.Concat(j.spans[n:]...)
		}
	}
	return "", slices.Concat(j.spans...)
}

// pieces writes the transcript, after a summary of what came earlier, and makes
// the task ready to be sent. answer is how long an answer may be. One job
// does so at a time: it is work for the processor, which belongs to the
// requests.
func (j *job) pieces(ctx context.Context, earlier string, msgs []compact.Message, answer int) ([]string, error) {
	select {
	case j.s.rendering <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-j.s.rendering }()
	if j.s.o.Mask {
		j.task = redact.Text(j.task)
	}
	var blocks []string
	if earlier != "" {
		blocks = append(blocks, prompt.Earlier(earlier))
	}
	for block := range prompt.Render(msgs, j.s.o.Mask) {
		if ctx.Err() != nil {
			break
		}
		blocks = append(blocks, block)
	}
	pieces := prompt.Split(blocks, while(ctx, costOf(j.s.o.Counter)), j.room(answer), mostPieces)
	switch {
	case ctx.Err() != nil: // then they are not what they should be
		return nil, ctx.Err()
	case pieces == nil:
		return nil, prompt.TooLong
	}
	return pieces, nil
}

// while counts until a job is over; then everything costs nothing, and whoever
// counts is soon done.
func while(ctx context.Context, cost func(string) int) func(string) int {
	return func(s string) int {
		if ctx.Err() != nil {
			return 0
		}
		return cost(s)
	}
}

// ask asks for one text, once more where the first answer cannot be taken.
func (j *job) ask(ctx context.Context, prior, piece string, source, answer int) (text string, err error) {
	bare, words := j.s.bare.Load(), prompt.Words(answer)
	for try := range mostTries {
		j.info.Tries++
		var a prompt.Answer
		if a, err = j.s.request(ctx, j.headers, prompt.Ask(j.task, prior, piece, words), answer, bare); err == nil {
			if bare {
				j.s.bare.Store(true)
			}
			if text, err = prompt.Accept(a, source, answer, j.cost); err == nil {
				return text, nil
			}
		}
		if !bare && unwilling(err) && ctx.Err() == nil {
			bare = true
			continue
		}
		if ctx.Err() != nil || final(err) {
			return "", err
		}
		if try == 0 {
			words = words * 2 / 3 // too long is what an answer is most of the time
		}
	}
	return "", err
}

// usersOf are the messages of users, in copies that do not hold on to the body.
func usersOf(spans [][]compact.Message) (users []compact.Message) {
	for _, span := range spans {
		for i := range span {
			if span[i].Role == compact.User {
				users = append(users, compact.Message{
					Role:  compact.User,
					Parts: []compact.Part{{Text: compact.Plain(prompt.TextOf(&span[i]))}},
				})
			}
		}
	}
	return users
}

// textBytes is what the texts of messages take.
func textBytes(spans [][]compact.Message) (n int) {
	for _, span := range spans {
		for i := range span {
			n += 512
			for p := range span[i].Parts {
				n += span[i].Parts[p].Text.Len()
			}
			for c := range span[i].Calls {
				n += span[i].Calls[c].Arguments.Len()
			}
		}
	}
	return n
}
