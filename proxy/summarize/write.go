package summarize

import (
	"context"
	"slices"

	"laconic/compact"
	"laconic/proxy/summarize/prompt"
	"laconic/proxy/summarize/redact"
)

// write asks the model for a summary, piece by piece.
func (j *job) write(ctx context.Context) (string, error) {
	o := &j.s.o
	cost := costOf(o.Counter)
	prior, spans := j.prior(ctx)
	size := j.size - prompt.Frame(j.label, j.cost)
	answer := o.longest(size)
	long := ""
	if cost(prior) > answer {
		// It was made for a larger window, or much was added to it: it becomes the
		// first of what is summarized.
		long, prior = prior, ""
	}
	pieces, err := j.pieces(ctx, long, spans, answer)
	if err != nil {
		return "", err
	}
	users := usersOf(j.spans)
	j.spans, spans = nil, nil // the last that points into the request's body
	held := bytesOf([][]compact.Message{users})
	for _, piece := range pieces {
		held += int64(len(piece))
	}
	j.memory.Shrink(held)
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

// prior returns the newest summary of an earlier epoch, or "", and
// the messages since then.
func (j *job) prior(ctx context.Context) (string, []compact.Message) {
	for n := len(j.gap.keys) - 1; n > 0; n-- {
		if text, ok := j.s.o.Store.Get(ctx, j.gap.keys[n-1]); ok {
			j.info.Updated = true
			return text, slices.Concat(j.spans[n:]...)
		}
	}
	return "", slices.Concat(j.spans...)
}

// pieces returns the transcript of messages behind an earlier summary, split for
// prompts with answers of so many tokens, and masks the task. One job does so at
// a time: the processor belongs to the requests.
func (j *job) pieces(ctx context.Context, earlier string, msgs []compact.Message, answer int) ([]string, error) {
	if err := j.s.rendering.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer j.s.rendering.Release(1)
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
	pieces := prompt.Split(blocks, while(ctx, costOf(j.s.o.Counter)), j.s.o.room(j.task, answer), mostPieces)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case pieces == nil:
		return nil, prompt.TooLong
	}
	return pieces, nil
}

// while returns a counter that returns 0 once ctx is done, so that counting ends
// soon.
func while(ctx context.Context, cost func(string) int) func(string) int {
	return func(s string) int {
		if ctx.Err() != nil {
			return 0
		}
		return cost(s)
	}
}

// ask asks the model about one piece, once more if its first answer cannot be
// taken.
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
			words = words * 2 / 3 // most answers that cannot be taken are too long
		}
	}
	return "", err
}

// usersOf returns copies of the messages of users, which do not point into the
// body.
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

// bytesOf returns what messages take.
func bytesOf(spans [][]compact.Message) (n int64) {
	for _, span := range spans {
		for i := range span {
			n += 512
			for p := range span[i].Parts {
				n += int64(span[i].Parts[p].Text.Len())
			}
			for c := range span[i].Calls {
				n += int64(span[i].Calls[c].Arguments.Len())
			}
		}
	}
	return n
}
