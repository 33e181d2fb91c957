// Package learn remembers what upstreams have shown of their models: the limits
// by which they refused requests, how they count, and what their templates demand of a
// list. What they publish is asked for in package discover.
//
// It promises:
//
//   - bounded: a limit below 512 tokens is not believed, an answer to a longer
//     prompt disproves a limit, and every fact expires.
//   - apart: facts belong to one upstream, model and credential, under the keyed
//     hash of all three. A tier or a route behind a gateway may differ with the
//     credential.
//   - read once: a plan depends on a [Facts], which is a value.
//   - shared: processes with one [Store] come to know the same, the newest of each
//     fact, and at once where the Store says that one was saved. A Store that was
//     away gets what it missed when it is back.
//   - in the background: the first request of a model waits for the [Store], 100 ms at
//     most, and no other does.
//
// It takes and returns values, and knows no request but by its size.
//
// # Limits
//
// A limit that is wrong costs memory of the conversation on every turn, one that
// is forgotten costs one refused request. So no limit outlives an hour, and what a
// refusal does not state is kept only once a second body was answered under it, and
// what unknown words say, or a full cache where no window is known, only once they came
// twice in a row.
// A window that is configured too large would fail at every turn, so a stated limit
// holds even then. What each refusal teaches stands at [Model.Refused] and behind it.
//
// The answer that a request asks for is kept free once a refusal counts it, or
// comes to a prompt that is within a known window. A refusal of the prompt alone
// says nothing of the answer: if prompt and answer together are refused then, a
// third body is sent.
//
// # Counts
//
// Each answer with usage and each refusal that counts goes to a [Calibration], one
// for each set of tools: what one agent taught is not applied to another. An upstream
// that silently reads only what fits its window shows it: it counts less than was
// sent, and just what its window holds, or no more for a longer prompt of the same
// conversation. That count is believed to be its window, unless it publishes one.
//
// # Bound thinking
//
// A conversation whose thinking is bound to its prefix is planned by what is
// configured and published, because an epoch that moves is a refusal there. Answers
// correct its count for the epochs to come, by the rates of its Held. Two facts are for
// such conversations alone: Hard and Cuts.
package learn

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"net/url"
	"slices"
	"strings"
	"sync"

	"github.com/maypok86/otter/v2"

	"laconic/compact"
)

// Options are what a Memory is made with. Failed is required.
type Options struct {
	// Store keeps facts beyond this process; nil: they are forgotten with it.
	Store Store
	// Secret keys the hashes under which facts are kept.
	Secret []byte
	// Calibrate makes what corrects a counter by the usage of answers, from how
	// many ways of counting leave nothing out, and the way and the factor in
	// percent that were measured before, 0 percent for none; nil: counts are not
	// corrected.
	Calibrate func(plain, way, percent int) Calibration
	// Failed is called with the value of a panic in the background.
	Failed func(v any)
}

// Memory is what is known of all upstreams. Make it with New. It is safe for
// concurrent use.
type Memory struct {
	o             Options
	models        *otter.Cache[Key, *Model]
	conversations *otter.Cache[Key, *Model]
	sharing       sharing

	stop    context.CancelFunc // of what runs in the background
	running sync.WaitGroup
}

// Bounds on what is remembered; the ones used least leave first. Models and
// credentials are what clients write.
const (
	mostModels        = 4096
	mostConversations = 16384
)

// New makes a Memory that knows nothing.
func New(o Options) *Memory {
	m := &Memory{
		o:             o,
		models:        otter.Must(&otter.Options[Key, *Model]{MaximumSize: mostModels, InitialCapacity: 16}),
		conversations: otter.Must(&otter.Options[Key, *Model]{MaximumSize: mostConversations, InitialCapacity: 16}),
		sharing:       sharing{wake: make(chan bool, 1), due: map[*Model]bool{}},
	}
	ctx, stop := context.WithCancel(context.Background())
	m.stop = stop
	if o.Store != nil {
		m.running.Go(func() { m.share(ctx) })
		m.running.Go(func() {
			defer m.recovered()
			o.Store.Watch(ctx, m.saved, m.missed)
		})
	}
	return m
}

// recovered reports a panic.
func (m *Memory) recovered() {
	if v := recover(); v != nil {
		m.o.Failed(v)
	}
}

// Close ends what runs in the background and waits for it.
func (m *Memory) Close() {
	m.stop()
	m.running.Wait()
}

// Key names an upstream, a model and a credential without showing any of them:
// a keyed hash.
type Key [sha256.Size]byte

// version is the version of what is kept under a Key. A release in which a fact means
// something else, or is written otherwise, raises it: facts of another version are
// not found, and are learnt anew.
const version = "facts 7"

// Key returns the keyed hash of a list. Each entry goes in with its length, so
// that no two lists look the same.
func (m *Memory) Key(list ...string) (key Key) {
	mac := hmac.New(sha256.New, m.o.Secret)
	for _, v := range append([]string{version}, list...) {
		_, _ = mac.Write(append(binary.LittleEndian.AppendUint64(nil, uint64(len(v))), v...))
	}
	mac.Sum(key[:0])
	return key
}

// Model returns what is known under a key. The upstream and the name of the model
// are for people, and so is sender, which names the credential alone.
func (m *Memory) Model(key Key, upstream *url.URL, name string, sender Key) *Model {
	e, _ := m.models.ComputeIfAbsent(key, func() (*Model, bool) {
		return &Model{memory: m, key: key, upstream: upstream.Host + upstream.Path, name: strings.Clone(name), sender: sender}, false
	})
	return e
}

// Calibration finds out by which of several ways of counting an upstream counts,
// and with which factor. It is called under a lock.
type Calibration interface {
	// Answered adds a prompt that was answered: its size by each way of counting,
	// the factor in percent that it was planned by, and what the upstream counted.
	// cut reports whether the upstream counted so little that it must have cut the
	// prompt.
	Answered(sizes []int, percent, counted int) (cut bool)
	// Refused adds the same of a prompt that was refused as too long.
	Refused(sizes []int, percent, counted int)
	// Count returns the index of the way and the factor on it, in percent, 100 for
	// none, and reports whether they are known.
	Count() (way, percent int, measured bool)
}

// Sent is what is known of the body of a request that was sent.
type Sent struct {
	// Sizes are what it costs by each of the Ways of counting, in tokens and
	// without a factor; the first Media tokens of Sizes[0] are images and the like.
	// The first Plain of the ways leave nothing out.
	Ways  []string
	Sizes []int
	Media int
	Plain int
	// Way and Percent are what it was planned by.
	Way     string
	Percent int
	Bytes   int // decompressed
	Asked   int // tokens of answer that the request asks for; 0: it does not say
	// Limits are those that are configured or published. Stated: their window is, and
	// is no guess.
	Limits compact.Limits
	Stated bool
	// MayCut: no window was stated, of an upstream that cuts what is too long.
	MayCut bool
	// OwnCounter: the policy counts by a counter of its own, or somebody chose the
	// tokenizer. Nothing corrects these.
	OwnCounter bool
	// Exact: the one way of counting is the model's own.
	Exact bool
	// Bound: the conversation holds bound thinking.
	Bound bool
	List  List
	// Agent holds the counts of requests with the same tools; nil: the model does.
	Agent *Model
}

// Size returns what it costs by a way of counting, without a factor.
func (s Sent) Size(way string) int {
	if i := slices.Index(s.Ways, way); i > 0 && i < len(s.Sizes) {
		return s.Sizes[i]
	}
	return s.Sizes[0] // also of a policy with a counter of its own
}

// Planned returns what it costs as it was planned, in tokens.
func (s Sent) Planned() int { return s.Size(s.Way) * s.Percent / 100 }

// cost returns what it costs by the facts, in tokens.
func (s *Sent) cost(f *Facts) int {
	if s.OwnCounter {
		return s.Sizes[0]
	}
	return s.Size(f.Count.Value.Way) * f.Percent() / 100
}
