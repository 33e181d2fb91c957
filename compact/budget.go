package compact

// DefaultWindow is the window of an unknown model, in tokens.
const DefaultWindow = 128_000

// Limits are what is known or configured of a model and its upstream, in tokens
// except MaxMessages. Zero means unknown, or the default.
type Limits struct {
	// Window is the whole context window, prompt and answer; 0: DefaultWindow.
	Window int `json:"window,omitempty"`
	// Input is a limit on the prompt below the window, if the model has one
	// (gpt-5: 272,000 of 400,000).
	Input int `json:"input,omitempty"`
	// Reserve is kept free for the answer: what answers usually take; 0: the
	// smaller of 8,192 and a quarter of the window, and no more than a quarter of
	// what must stay leaves of it.
	Reserve int `json:"reserve,omitempty"`
	// Together is set if the upstream refuses a prompt that does not fit together
	// with the longest answer that the request allows. Then that answer is kept
	// free if it is more than Reserve.
	Together bool `json:"-"`
	// Budget overrides all of the above. It is what the prompt may cost.
	Budget int `json:"budget,omitempty"`
	// MaxMessages is the largest number of messages; 0: DefaultMaxMessages.
	MaxMessages int `json:"max_messages,omitempty"`
}

// A Budget is what one request may cost. It is made by [Limits.For], or of
// Tokens alone: the zero value of another field is its stated default.
type Budget struct {
	// Tokens is what the prompt may cost, tools and framing included.
	Tokens int
	// Placing is the same with the reserve rounded up to a sixteenth of the
	// window. Epochs are placed by it, so that a client that computes
	// max_tokens from its own estimate does not move earlier epochs; 0: Tokens.
	// It is no smaller for a larger window, and neither is Limit.
	Placing int
	// Step is that sixteenth, in tokens; the fixed cost is rounded up by at
	// most so much. 0: a sixteenth of Tokens.
	Step int
	// Limit is the longest prompt that the upstream takes beside a short
	// answer, in tokens; 0: none. Where what must stay fills Tokens, epochs may
	// plan up to Limit.
	Limit int
	// Newest is what the prompt may cost where the results of the newest calls
	// would be cut otherwise: half of the reserve is left for the answer, in
	// tokens; 0: no more than Tokens.
	Newest int
	// Window is the window of prompt and answer, in tokens, where the reserve is the
	// default; 0 where somebody chose it. See [Budget.Above].
	Window int
	// Hard is the longest prompt that is tried, in tokens, if a refusal taught
	// one; 0: none. Above it an epoch is forced, but it moves none of the
	// epochs that Placing places.
	Hard int
	// Messages is the largest number of messages; 0: what Rules say.
	Messages int
}

// most returns what the prompt may cost by all that is known, in tokens.
func (b Budget) most() int { return b.tried(b.Tokens) }

// Room returns what the prompt may cost with the newest results whole, in tokens.
func (b Budget) Room() int { return b.tried(max(b.Tokens, b.Newest)) }

// Above returns the budget of a request of which required tokens must stay. Where the
// reserve is the default, it is at most a quarter of what they leave of the window.
func (b Budget) Above(required int) Budget {
	if left := b.Window - required; left > 0 {
		b.Placing = max(b.Placing, min(b.Limit, b.Window-left/4))
		b.Newest = max(b.Newest, min(b.Limit, b.Window-left/8))
		b.Tokens = max(b.Tokens, b.Placing)
	}
	return b
}

// tried returns tokens, or Hard if that is less.
func (b Budget) tried(tokens int) int { return Lower(tokens, b.Hard) }

// at returns b in tokens of a counter that a rate corrects.
func (b Budget) at(r Rate) Budget {
	for _, tokens := range []*int{&b.Tokens, &b.Placing, &b.Limit, &b.Newest, &b.Window} {
		if *tokens > 0 {
			*tokens = max(1, int(int64(*tokens-r.Extra)*100/int64(max(1, r.Percent))))
		}
	}
	return b
}

// withDefaults returns b with its defaults filled in.
func (b Budget) withDefaults(rules Rules) Budget {
	b.Placing = positive(b.Placing, b.Tokens)
	b.Step = positive(b.Step, step(b.Tokens))
	b.Messages = positive(b.Messages, rules.messages())
	return b
}

// Under returns the limits where nothing is known but the rules of an API.
func (l Limits) Under(rules Rules) Limits {
	l.MaxMessages = positive(l.MaxMessages, rules.messages())
	return l
}

// Published is what an upstream publishes of a model. Limits are in tokens; 0:
// unknown.
type Published struct {
	// Window is of prompt and answer together, Input of the prompt alone.
	Window, Input int
	// NoTools: its chat template leaves out tools; NoCalls: calls and results, too.
	NoTools, NoCalls bool
	// Runs is what it says that it runs under the name.
	Runs Runs
}

// Runs is what an upstream says of the model that it runs, whatever name that is asked
// by. The zero value of each says nothing.
type Runs struct {
	Name       string // of the model, of its file or of its kind
	Vocabulary int    // how many tokens it knows
	Template   string // that writes its prompts
}

// Credible returns n, or 0 if it cannot be meant as a limit, in tokens. Some upstreams
// state 0, or a number of something else. No model that talks is loaded with less, and a
// prompt that was folded to less holds nothing but instructions.
func Credible(n int) int {
	if n < 512 || n > 100_000_000 {
		return 0
	}
	return n
}

// Lower returns the smaller of two limits, of which 0 is no limit.
func Lower(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// With returns the limits with what the upstream publishes. A published limit of
// the prompt says only that the window is no smaller.
func (l Limits) With(p Published) Limits {
	if p.Window <= 0 && p.Input <= 0 {
		return l
	}
	l.Window = positive(p.Window, max(l.window(), p.Input))
	if l.Input >= l.Window {
		l.Input = 0 // a limit of the model's that this upstream is far from
	}
	l.Input = Lower(l.Input, p.Input)
	return l
}

// For returns the budget of a request that asks for an answer of at most answer
// tokens; 0: it did not say.
func (l Limits) For(answer int) Budget {
	b := Budget{Messages: l.Under(Rules{}).MaxMessages}
	window := l.window()
	reserve, least := positive(l.Reserve, l.usual()), 1
	if l.Together {
		answer = l.Answer(answer)
		reserve, least = max(reserve, answer), max(least, answer)
	}
	b.Limit = Lower(beside(window, least), l.Input)
	if l.Budget > 0 {
		b.Tokens, b.Placing, b.Step = l.Budget, l.Budget, step(l.Budget)
		return b
	}
	b.Step = step(window)
	b.Tokens = Lower(max(1, window-reserve), l.Input)
	b.Placing = Lower(max(1, beside(window, reserve)), l.Input)
	b.Newest = max(1, min(b.Limit, beside(window, reserve/2)))
	if l.Reserve <= 0 {
		b.Window = window
	}
	return b
}

// Answer returns how much of an answer of at most asked tokens has to have room
// beside the prompt: what answers usually take, or all of it up to half the window
// where the upstream refuses prompt and answer together.
func (l Limits) Answer(asked int) int {
	if l.Together {
		return min(asked, l.window()/2)
	}
	return min(asked, l.usual())
}

func (l Limits) window() int { return positive(l.Window, DefaultWindow) }

// usual returns what answers usually take.
func (l Limits) usual() int { return min(8192, l.window()/4) }

// beside returns what a reserve that is rounded up to a sixteenth of the window
// leaves of it. Of a larger window it leaves no less.
func beside(window, reserve int) int {
	sixteenths := min(16, (16*reserve+window-1)/window)
	return window * (16 - sixteenths) / 16
}

func step(window int) int { return max(1, window/16) }

// positive returns n, or its default if n is not above 0.
func positive[N int | float64](n, otherwise N) N {
	if n > 0 {
		return n
	}
	return otherwise
}

// share returns a part of a whole, rounded down.
func share(s float64, whole int) int { return int(s * float64(whole)) }
