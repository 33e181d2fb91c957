package summarize

import (
	"context"
	"net/http"
	"slices"

	"laconic/compact"
	"laconic/proxy/summarize/prompt"
	"laconic/proxy/summarize/redact"
)

// write asks the model for a summary, piece by piece.
func (j *job) write(ctx context.Context) (string, error) {
	o := &j.s.o
	cost := costOf(o.Counter)
	size := ofSpan(j.size) - j.cost(compact.SummaryText(j.label, "", 1000)) // less its frame, about
	answer := min(size, o.Window/6)
	sources, prior := j.sources(ctx), ""
	// One that was made for a larger window, or that much was added to, is the first
	// of what is summarized.
	if len(sources) > 1 && sources[0].summary != "" && cost(sources[0].summary) <= answer {
		prior, sources = sources[0].summary, sources[1:]
	}
	pieces, err := j.pieces(ctx, sources, answer)
	if err != nil {
		return "", err
	}
	j.runs, sources = nil, nil // the last that points into the request's body
	var held int64
	for _, text := range pieces {
		held += int64(len(text)) + 64
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
	return text, nil
}

// A job asks at most mostTries times for each of at most mostPieces pieces.
const (
	mostPieces = 8
	mostTries  = 2
)

// source is a part of what a summary is made from: messages, or a summary of them.
type source struct {
	summary string
	msgs    []compact.Message
}

// sources returns what the summary of the gap is made from, oldest first: the
// newest stored summary of all up to some place, then for each span after it its own
// summary, or its messages if none is stored, and what came since.
func (j *job) sources(ctx context.Context) (all []source) {
	stored := j.s.store
	from := 0
	for n := len(j.gap.upTo) - 1; n >= 0 && from == 0; n-- {
		if text, ok := stored.Get(ctx, j.gap.upTo[n]); ok {
			all, from = append(all, source{summary: text}), n+1
		}
	}
	for n := from; n < len(j.runs); n++ {
		if len(j.runs[n]) == 0 {
			continue
		}
		one := source{msgs: j.runs[n]}
		if n > 0 && n < len(j.gap.own) { // the first has the same key in both lists
			if text, ok := stored.Get(ctx, j.gap.own[n]); ok {
				one = source{summary: text}
			}
		}
		all = append(all, one)
	}
	j.info.Updated = slices.ContainsFunc(all, func(s source) bool { return s.summary != "" })
	return all
}

// pieces returns the transcript of sources, split for prompts with answers of so
// many tokens, and masks the task. One job does so at a time: the processor belongs
// to the requests.
func (j *job) pieces(ctx context.Context, sources []source, answer int) ([]string, error) {
	if err := j.s.rendering.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer j.s.rendering.Release(1)
	if j.s.o.Mask {
		j.task = redact.Text(j.task)
	}
	var blocks []string
	for _, one := range sources {
		if one.summary != "" {
			blocks = append(blocks, prompt.Earlier(one.summary))
		}
		for block := range prompt.Render(one.msgs, j.s.o.Mask) {
			if ctx.Err() != nil {
				break
			}
			blocks = append(blocks, block)
		}
	}
	cost := func(s string) int {
		if ctx.Err() != nil {
			return 0 // so that counting ends soon
		}
		return compact.CostText(j.s.o.Counter, s)
	}
	pieces := prompt.Split(blocks, cost, j.s.o.room(j.task, answer), mostPieces)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case pieces == nil:
		return nil, prompt.TooLong
	}
	return pieces, nil
}

// ask asks the model about one piece, once more if its first answer cannot be
// taken.
func (j *job) ask(ctx context.Context, prior, piece string, source, answer int) (text string, err error) {
	bare, words := j.s.bare.Load(), prompt.Words(answer)
	for range mostTries {
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
		// Many models refuse a limit above 4,096 or 8,192 tokens, some take no
		// temperature, and some know only the newer name of the limit.
		status := statusOf(err)
		if unwilling := status == http.StatusBadRequest || status == http.StatusUnprocessableEntity; !bare && unwilling && ctx.Err() == nil {
			bare = true
			continue
		}
		if ctx.Err() != nil || final(err) {
			return "", err
		}
		words = words * 2 / 3 // most answers that cannot be taken are too long
	}
	return "", err
}

// bytesOf returns what messages take.
func bytesOf(runs [][]compact.Message) (n int64) {
	for _, run := range runs {
		for i := range run {
			n += 512
			for p := range run[i].Parts {
				n += int64(run[i].Parts[p].Text.Len())
			}
			for c := range run[i].Calls {
				n += int64(run[i].Calls[c].Arguments.Len())
			}
		}
	}
	return n
}
