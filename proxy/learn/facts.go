package learn

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"laconic/compact"
	"laconic/number"
)

// Fact is a value that is believed until some time. A zero Value with a time says
// that the fact was found to be wrong.
type Fact[T any] struct {
	Value T         `json:"value,omitzero"`
	Until time.Time `json:"until,omitzero"`
}

// believe returns a fact that is believed from now on. Its time is the same once it
// was written as text and read.
func believe[T any](v T, now time.Time, life time.Duration) Fact[T] {
	return Fact[T]{v, now.Add(life).Round(0).UTC()}
}

// aged reports whether a fact that is believed for factLife was noted more than an hour
// ago, or never. One that holds on is noted anew only then: it is stored each time.
func (f Fact[T]) aged(now time.Time) bool { return f.Until.Before(now.Add(factLife - time.Hour)) }

// with returns the one of f and k that was learnt later, if it is still believed. A
// clock that is ahead by more than a day wrote nothing.
func (f Fact[T]) with(k Fact[T], now time.Time) Fact[T] {
	if k.Until.After(f.Until) {
		f = k
	}
	if !now.Before(f.Until) || f.Until.After(now.Add(2*factLife)) {
		return Fact[T]{}
	}
	return f
}

// How long facts are believed. A limit that is wrong costs memory of the
// conversation on every turn, one that is forgotten one refused request.
const (
	limitLife  = time.Hour
	unsureLife = 10 * time.Minute
	factLife   = 24 * time.Hour // of all others
)

// Facts are what the traffic of one credential has shown of one model behind one
// upstream. The zero value knows nothing.
//
// A plan depends on them, so they are read once per request, and change seldom: by
// a refusal, by an answer that disproves one, or by a step of the counter's factor.
type Facts struct {
	// Window is the limit of prompt and answer together, Input that of the prompt
	// alone, in tokens as the upstream counts.
	Window Fact[int] `json:"window,omitzero"`
	Input  Fact[int] `json:"input,omitzero"`
	// Together: a prompt is refused that does not fit together with the longest
	// answer that the request allows.
	Together Fact[bool] `json:"together,omitzero"`
	// Larger: a longer prompt was answered than the model of that name takes elsewhere.
	Larger Fact[bool] `json:"larger,omitzero"`
	// Messages is the largest number of messages, Bytes the largest body.
	Messages Fact[int] `json:"messages,omitzero"`
	Bytes    Fact[int] `json:"bytes,omitzero"`
	// Count is how the upstream counts.
	Count Fact[Count] `json:"count,omitzero"`
	// Demands is what the upstream's chat template demands of a list. A template is
	// code of the model: what it refuses is known when it does.
	Demands Fact[compact.Demands] `json:"shape,omitzero"`
	// Hard is the longest prompt in a conversation with bound thinking, in tokens
	// of the first way of counting, without a factor. Such a conversation is planned
	// by what is configured and published, and this adds epochs where that is more
	// than the upstream takes. It changes with a refusal, and with no answer.
	Hard Fact[int] `json:"hard,omitzero"`
	// Held is the count that a conversation was folded with, in the facts of one.
	Held Fact[Held] `json:"held,omitzero"`
	// Cuts names the conversations whose bound thinking was taken out, each by a keyed
	// hash of its messages up to the last that lost some. They are sorted by time.
	Cuts []Fact[string] `json:"cuts,omitempty"`
}

// Count is a way of counting and the factor on it, in percent; 0: 100.
type Count struct {
	Way     string `json:"way,omitempty"` // "" where the counter knows one alone
	Percent int    `json:"percent,omitempty"`
}

// Percent returns the counter's factor.
func (f *Facts) Percent() int { return cmp.Or(f.Count.Value.Percent, 100) }

// Refuses reports whether the upstream is known to refuse what is too long.
func (f *Facts) Refuses() bool {
	return f.Window.Value != 0 || f.Input.Value != 0 || f.Messages.Value != 0
}

// ForBound returns the facts by which a conversation with bound thinking is
// planned: those that no other conversation changes.
func (f Facts) ForBound() Facts {
	f.Window, f.Input, f.Together = Fact[int]{}, Fact[int]{}, Fact[bool]{}
	return f
}

// Equal reports whether f and o say the same.
func (f Facts) Equal(o Facts) bool { return reflect.DeepEqual(f, o) }

// at returns f without what has expired.
func (f Facts) at(now time.Time) Facts { return f.with(Facts{}, now) }

// with returns the facts of f and k that were learnt later, without what has
// expired.
func (f Facts) with(k Facts, now time.Time) Facts {
	return Facts{
		Window: f.Window.with(k.Window, now), Input: f.Input.with(k.Input, now), Together: f.Together.with(k.Together, now),
		Larger:   f.Larger.with(k.Larger, now),
		Messages: f.Messages.with(k.Messages, now), Bytes: f.Bytes.with(k.Bytes, now),
		Count: f.Count.with(k.Count, now), Demands: f.Demands.with(k.Demands, now), Hard: f.Hard.with(k.Hard, now), Held: f.Held.with(k.Held, now),
		Cuts: joined(f.Cuts, k.Cuts, now),
	}
}

// mostCuts bounds the cuts of a model: the newest stay.
const mostCuts = 256

// joined returns the newest cuts of two lists that have not expired, whatever the
// order of the lists.
func joined(a, b []Fact[string], now time.Time) []Fact[string] {
	all := map[string]Fact[string]{}
	for _, c := range slices.Concat(a, b) {
		if c = c.with(all[c.Value], now); c.Value != "" {
			all[c.Value] = c
		}
	}
	list := slices.SortedFunc(maps.Values(all), func(a, b Fact[string]) int { return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Value, b.Value)) })
	return list[max(0, len(list)-mostCuts):]
}

// listed is a fact as it is shown.
type listed struct {
	name  string // "": it is in no metric
	known bool
	words string
}

// list returns all facts, known or not.
func (f *Facts) list() []listed {
	until := func(words string, t time.Time) string { return words + ", until " + t.Format(time.RFC3339) }
	tokens := func(name, words string, n Fact[int]) listed {
		return listed{name, n.Value != 0, until(fmt.Sprintf(words, n.Value), n.Until)}
	}
	count := fmt.Sprintf("counts at %d %%", f.Percent())
	if way := f.Count.Value.Way; way != "" {
		count = "counts by " + way + ", " + count
	}
	return []listed{
		tokens("window", "window %d", f.Window),
		tokens("input", "prompt limit %d", f.Input),
		tokens("messages", "at most %d messages", f.Messages),
		tokens("bytes", "bodies above %d bytes not tried", f.Bytes),
		tokens("hard", "prompts with bound thinking above %d not tried", f.Hard),
		{"together", f.Together.Value, until("prompt and answer refused together", f.Together.Until)},
		{"", f.Larger.Value, until("window larger than its name says", f.Larger.Until)},
		{"", len(f.Cuts) > 0, "thinking taken out of " + number.Count(len(f.Cuts), "history")},
		{"count", f.Count.Value != Count{}, until(count, f.Count.Until)},
		{"shape", f.Demands.Value != 0, until("shape "+f.Demands.Value.String(), f.Demands.Until)},
	}
}
