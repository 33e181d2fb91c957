package proxy

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"time"

	"laconic/proxy/access"
)

// Learnt is what the traffic of one credential taught about one model behind
// one upstream. The zero value knows nothing. All numbers are tokens but
// Messages, Bytes, TookBytes and Percent.
//
// A plan depends on it, so it is read once per request, and changes seldom: by
// a refusal, or by a step of Percent.
type Learnt struct {
	// Window is what a refusal gave as the limit of prompt and answer.
	Window int `json:"window,omitempty"`
	// Input is what a refusal gave as the limit of the prompt alone.
	Input int `json:"input,omitempty"`
	// Sums: the upstream refuses prompts that do not fit together with the
	// answer that was asked for, however long that may be.
	Sums bool `json:"sums,omitempty"`
	// Answer is the room for an answer that such an upstream counts when the
	// request names none.
	Answer int `json:"answer,omitempty"`
	// Messages is the largest number of messages.
	Messages int `json:"messages,omitempty"`
	// Until is when all of the above is forgotten: what a refusal says may
	// depend on free memory, on what is loaded, on a tier.
	Until time.Time `json:"until,omitzero"`
	// Since is when it was told last: of two accounts the later one counts.
	Since time.Time `json:"since,omitzero"`

	// Cap is the longest prompt that is tried since one was refused without a
	// number that explains it and a shorter one was answered, in tokens of the
	// counter before Percent.
	Cap int `json:"cap,omitempty"`
	// Tight is the shortest prompt, in the same tokens, that was refused so
	// while nothing shorter was answered yet. It limits no prompt but the one
	// that is sent in the place of a refused one.
	Tight int `json:"tight,omitempty"`
	// Bytes is the largest body that is tried.
	Bytes int `json:"bytes,omitempty"`
	// Doubt is a limit that was told once, against what was known.
	Doubt int `json:"doubt,omitempty"`
	// GuessUntil is when these are forgotten, sooner than what was told: no
	// number of the upstream's bears them.
	GuessUntil time.Time `json:"guess_until,omitzero"`

	// Hard is the longest prompt that is tried in a history with bound thinking,
	// in tokens of the first way of counting, without a factor: such a history is
	// planned by what is set and told, and this adds epochs where that is more
	// than the upstream takes. It changes with a refusal, and with no answer.
	Hard      int       `json:"hard,omitempty"`
	HardUntil time.Time `json:"hard_until,omitzero"`
	// Cuts are the histories whose bound thinking was taken out.
	Cuts Cuts `json:"cuts,omitempty"`

	// Took is the longest prompt that was answered, and TookBytes the largest
	// body: no plan depends on them, but a refusal that they disprove is not
	// believed.
	Took      int       `json:"took,omitempty"`
	TookBytes int       `json:"took_bytes,omitempty"`
	TookUntil time.Time `json:"took_until,omitzero"`

	// Way names how the upstream counts, where the counter knows several ways.
	// Percent is what the result is multiplied by; 0: 100.
	Way          string    `json:"way,omitempty"`
	Percent      int       `json:"percent,omitempty"`
	PercentUntil time.Time `json:"percent_until,omitzero"`

	// Shape is how much of a plan the upstream's chat template takes.
	Shape      Shape     `json:"shape,omitempty"`
	ShapeUntil time.Time `json:"shape_until,omitzero"`
}

// How long facts hold. A limit that is wrong costs memory of the conversation
// on every turn, one that is forgotten costs one refused request.
const (
	limitLife   = 6 * time.Hour
	guessLife   = time.Hour
	shapeLife   = 24 * time.Hour
	percentLife = 24 * time.Hour
)

// at is what of it still holds.
func (l Learnt) at(now time.Time) Learnt {
	if !now.Before(l.Until) {
		l.Window, l.Input, l.Sums, l.Answer, l.Messages, l.Until, l.Since = 0, 0, false, 0, 0, time.Time{}, time.Time{}
	}
	if !now.Before(l.GuessUntil) {
		l.Cap, l.Tight, l.Bytes, l.Doubt, l.GuessUntil = 0, 0, 0, 0, time.Time{}
	}
	if !now.Before(l.HardUntil) {
		l.Hard, l.HardUntil = 0, time.Time{}
	}
	l.Cuts = l.Cuts.at(now)
	if !now.Before(l.TookUntil) {
		l.Took, l.TookBytes, l.TookUntil = 0, 0, time.Time{}
	}
	if !now.Before(l.PercentUntil) {
		l.Way, l.Percent, l.PercentUntil = "", 0, time.Time{}
	}
	if !now.Before(l.ShapeUntil) {
		l.Shape, l.ShapeUntil = ShapeFull, time.Time{}
	}
	return l
}

// known tells whether anything is that a plan depends on.
func (l *Learnt) known() bool {
	return l.Window != 0 || l.Input != 0 || l.Sums || l.Answer != 0 || l.Messages != 0 || l.Cap != 0 || l.Bytes != 0 ||
		l.Percent != 0 || l.Shape != ShapeFull || l.Hard != 0 || l.Cuts != ""
}

// refused reports whether the upstream is known to refuse what is too long.
func (l *Learnt) refused() bool {
	return l.Window != 0 || l.Input != 0 || l.Messages != 0 || l.Cap != 0 || l.Tight != 0 || l.Doubt != 0
}

// percent is Percent with its default.
func (l *Learnt) percent() int {
	if l.Percent == 0 {
		return 100
	}
	return l.Percent
}

// FactKey names an upstream, a model and a credential without telling any of
// them: a keyed hash.
type FactKey [sha256.Size]byte

// Facts keeps what was learnt beyond this process. It may be slow, absent or
// lying: a request waits for it, for no longer than factsWait, when its key is
// new here. Otherwise it is asked and told in the background, at every change
// and every factsFresh. Both methods end with their context. Safe for
// concurrent use.
type Facts interface {
	Load(ctx context.Context, key FactKey) (Learnt, bool)
	Save(ctx context.Context, key FactKey, l Learnt)
}

// factsWait is how long a request may wait for Facts.
const factsWait = 100 * time.Millisecond

// factsFresh is how old that may be which other processes have learnt.
const factsFresh = time.Minute

// factKey is the key of a request's facts. Everything that is secret or a
// client's text goes in as part of a keyed hash, each with its length, so that
// no two lists of them look the same.
func (p *Proxy) factKey(h http.Header, route *Route, model ...string) FactKey {
	return p.keyed(h, route, append([]string{"model"}, model...)...)
}

func (p *Proxy) keyed(h http.Header, route *Route, what ...string) (key FactKey) {
	mac := hmac.New(sha256.New, p.factSecret)
	write := func(v string) {
		var n [8]byte
		binary.LittleEndian.PutUint64(n[:], uint64(len(v)))
		_, _ = mac.Write(n[:])
		_, _ = mac.Write([]byte(v))
	}
	write("facts 2")
	write(route.Upstream.String())
	for _, w := range what {
		write(w)
	}
	for _, v := range access.Credentials(h) {
		write(v)
	}
	mac.Sum(key[:0])
	return key
}
