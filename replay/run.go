package replay

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"

	"laconic/compact"
	"laconic/replay/record"
)

// Policy is a policy to be measured.
type Policy struct {
	// Name is what tables call it.
	Name string
	// Policy is what compacts.
	Policy *compact.Policy
	// Claims are the promises that are checked on every request, by their
	// numbers, from 1.
	Claims []int

	claims []string // the names
}

// Budget is a budget to measure under: a number of tokens, or a share of each
// conversation's own peak.
type Budget struct {
	Tokens int     `json:"tokens,omitempty"` // if above 0
	Share  float64 `json:"share,omitempty"`  // otherwise; above 0
}

// String names the budget in tables.
func (b Budget) String() string {
	if b.Tokens > 0 {
		return Thousands(b.Tokens)
	}
	return fmt.Sprintf("%g × peak", b.Share)
}

// of returns the budget of one conversation.
func (b Budget) of(peak int) compact.Budget {
	tokens := b.Tokens
	if tokens <= 0 {
		tokens = int(b.Share * float64(peak))
	}
	return compact.Limits{Budget: max(1, tokens)}.For(0)
}

// Options say what to replay and how. Files, Policies, Budgets and Counter are
// required.
type Options struct {
	// Files are read in order: JSONL, HAR or a JSON body, distinguished by what
	// they hold.
	Files []string
	// Policies are measured side by side, under each of Budgets.
	Policies []Policy
	Budgets  []Budget
	// Counter counts for all conversations. Where CounterFor is given, it
	// chooses by the recorded model's name instead.
	Counter    compact.Counter
	CounterFor func(model string) compact.Counter
	// MinPeak leaves out conversations whose largest request costs less, in
	// tokens.
	MinPeak int
	// Prices; nil: DefaultPrices.
	Prices *Prices
	// Workers is how many conversations are measured at once; 0: 2.
	Workers int
	// Series keeps, of the conversation with the largest peak of every file,
	// what each request cost.
	Series bool
	// Progress, if not nil, is called from one goroutine at a time, after
	// every conversation.
	Progress func(Progress)
}

// Progress is how far a replay has come.
type Progress struct {
	// Bytes of Total bytes were read.
	Bytes, Total int64
	// Conversations and requests were measured.
	Conversations, Requests int
}

// Run replays all conversations of the files. The error is nil, or the
// context's, or says what is wrong with the options; what is wrong with a file
// or a line is in Result.Unread. The result holds what was measured until
// then.
func Run(ctx context.Context, o Options) (Result, error) {
	o, err := o.checked()
	if err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	res := gather(&o)
	jobs := make(chan job)
	done := make(chan measured)
	read := make(chan []record.Unread, 1)
	var bytes atomic.Int64
	go func() {
		defer close(jobs)
		read <- o.read(ctx, jobs, &bytes)
	}()
	var workers sync.WaitGroup
	for range o.Workers {
		workers.Go(func() {
			for j := range jobs {
				done <- measured{j.order, o.replay(j.recorded)}
			}
		})
	}
	go func() {
		workers.Wait()
		close(done)
	}()
	total := o.size()
	pending := map[int]*replayed{} // measured, but an earlier one is not yet
	progress := Progress{Total: total}
	for m := range done {
		pending[m.order] = m.replayed
		for next := pending[res.taken]; next != nil; next = pending[res.taken] {
			delete(pending, res.taken)
			res.take(next)
			progress.Conversations += next.conversations()
			progress.Requests += next.requests
		}
		if o.Progress != nil {
			progress.Bytes = min(bytes.Load(), total)
			o.Progress(progress)
		}
	}
	res.Unread = <-read
	return res.finish(), ctx.Err()
}

// job is a conversation on its way to a worker, measured one on its way back.
type job struct {
	order    int
	recorded *record.Conversation
}

type measured struct {
	order int
	*replayed
}

// replayed is what all policies did to one conversation.
type replayed struct {
	file, id string
	peak     int
	requests int
	left     bool   // nothing was measured
	budgets  []int  // tokens, per budget
	runs     []*run // by budget, then by policy
}

func (r *replayed) conversations() int {
	if r.left {
		return 0
	}
	return 1
}

// replay measures one conversation.
func (o *Options) replay(r *record.Conversation) *replayed {
	counter := o.Counter
	if o.CounterFor != nil {
		counter = o.CounterFor(r.Model)
	}
	v := prepare(r, counter, *o.Prices)
	out := &replayed{file: r.File, id: r.ID, peak: v.peak}
	if v.peak < o.MinPeak || len(v.turns) == 0 {
		out.left = true
		return out
	}
	out.requests = len(v.turns)
	for _, b := range o.Budgets {
		budget := b.of(v.peak)
		out.budgets = append(out.budgets, budget.Tokens)
		for i := range o.Policies {
			out.runs = append(out.runs, v.measure(&o.Policies[i], budget, b.String(), *o.Prices, o.Series))
		}
	}
	return out
}

// read hands every conversation of the files to the workers and returns what
// could not be read.
func (o *Options) read(ctx context.Context, jobs chan<- job, bytes *atomic.Int64) []record.Unread {
	var unread []record.Unread
	order := 0
	for _, file := range o.Files {
		err := record.Read(file, bytes, func(r *record.Conversation, bad *record.Unread) error {
			if bad != nil {
				unread = append(unread, *bad)
				return nil
			}
			select {
			case jobs <- job{order, r}:
				order++
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		if ctx.Err() != nil {
			return unread
		}
		if err != nil {
			unread = append(unread, record.Unread{File: file, Reason: err.Error()})
		}
	}
	return unread
}

// size returns how many bytes the files have together.
func (o *Options) size() (n int64) {
	for _, f := range o.Files {
		if s, err := os.Stat(f); err == nil {
			n += s.Size()
		}
	}
	return n
}

func (o Options) checked() (Options, error) {
	switch {
	case len(o.Files) == 0:
		return o, errors.New("there is no file to replay")
	case len(o.Policies) == 0:
		return o, errors.New("there is no policy to replay with")
	case len(o.Budgets) == 0:
		return o, errors.New("there is no budget to replay under")
	case o.Counter == nil && o.CounterFor == nil:
		return o, errors.New("there is no counter of tokens")
	}
	if o.Prices == nil {
		o.Prices = &DefaultPrices
	}
	if err := o.Prices.check(); err != nil {
		return o, err
	}
	for _, b := range o.Budgets {
		if b.Tokens <= 0 && !(b.Share > 0) {
			return o, errors.New("a budget must be above zero")
		}
	}
	if o.Workers <= 0 {
		o.Workers = 2
	}
	policies := make([]Policy, len(o.Policies))
	for i, p := range o.Policies {
		for _, n := range p.Claims {
			if n < 1 || n > len(promises) {
				return o, fmt.Errorf("policy %s: there is no promise %d", p.Name, n)
			}
		}
		p.claims = PromiseNames(p.Claims)
		policies[i] = p
	}
	o.Policies = policies
	return o, nil
}
