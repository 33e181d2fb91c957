package e2e

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact/compacttest"
	"laconic/e2e/rig"
	"laconic/proxy/wire"
)

// How much of the sweep runs, as bytes of bodies that are sent. LACONIC_SWEEP
// chooses: by default a sample that a short run can bear, half a larger one of
// two minutes, both drawn from all requests with all damages at all budgets;
// full sends every request at every budget, and every request with every damage
// at one of the budgets, in turn: some 28 GB, half an hour.
var sweepSizes = map[string]int64{"": 60 << 20, "half": 1500 << 20, "full": everything}

const everything = -1

// shares are the budgets of the sweep, in percent of a conversation's peak.
var shares = []int{10, 20, 30, 40, 50, 60, 70, 80, 90, 100}

// chat is one recorded conversation.
type chat struct {
	id, model string
	seed      uint64 // made of the id
	tools     []byte
	lines     []chatLine
	points    []int // lengths of the prefixes that a client sent
	sizes     []int // bytes of the first n messages
	gap       string
	peak      int  // tokens of the whole, in the proxy's count
	own       bool // the conversation is the repository's
}

// body is a request with these messages.
func (c *chat) body(ls []chatLine) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"model":%s,"messages":[`, strconv.Quote(c.model))
	for i, l := range ls {
		if i > 0 {
			b.WriteString(c.gap)
		}
		b.Write(l.raw)
	}
	b.WriteByte(']')
	if len(c.tools) > 0 {
		b.WriteString(`,"tools":`)
		b.Write(c.tools)
	}
	b.WriteString(`,"temperature": 0.10}`)
	return b.Bytes()
}

// recordedChats reads the real conversations. Every other one is written with
// wide gaps.
func recordedChats(t *testing.T) []*chat {
	return someChats(t, func(int, string) bool { return true })
}

// someChats reads those of the real conversations that are wanted, by their numbers and
// their ids.
func someChats(t *testing.T, wanted func(n int, id string) bool) []*chat {
	t.Helper()
	n := -1
	files := compacttest.ConversationFiles(t)
	var all []*chat
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		own := !compacttest.InLargerSet(t, name)
		in := bufio.NewScanner(f)
		in.Buffer(nil, 64<<20)
		for in.Scan() {
			if n++; !wanted(n, gjson.GetBytes(in.Bytes(), "id").String()) {
				continue
			}
			var r struct {
				ID, Model string
				Messages  []json.RawMessage
				Tools     json.RawMessage
			}
			if err := json.Unmarshal(in.Bytes(), &r); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			h := fnv.New64a()
			_, _ = io.WriteString(h, r.ID)
			c := &chat{id: r.ID, seed: h.Sum64(), model: r.Model, own: own, tools: r.Tools, gap: []string{",", " ,\n  "}[n%2], sizes: []int{0}}
			if string(c.tools) == "null" {
				c.tools = nil
			}
			for i, m := range r.Messages {
				l := lineOf(m)
				if l.role == "assistant" && i > 0 {
					c.points = append(c.points, i)
				}
				c.lines = append(c.lines, l)
				c.sizes = append(c.sizes, c.sizes[i]+len(m))
			}
			c.points = append(c.points, len(c.lines))
			req, err := wire.Chat.Decode(c.body(c.lines))
			if err != nil {
				t.Fatalf("%s: %v", c.id, err)
			}
			c.peak = costOf(t, req, c.model)
			all = append(all, c)
		}
		if err := in.Err(); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// chance is what decides for a case: the same at every run.
func (c *chat) chance(k, d, share int) *rand.Rand {
	return rand.New(rand.NewPCG(c.seed, uint64(k)<<32|uint64(d)<<16|uint64(share)))
}

// sample says which of many cases are sent, so that about so many bytes are:
// small cases nearly all, of the large ones a few, spread over everything.
type sweepSample struct{ allowance float64 }

// sampleOf shares size bytes among cases of which each costs as told.
func sampleOf(size int64, cases func(yield func(cost int))) sweepSample {
	if size == everything {
		return sweepSample{everything}
	}
	// The allowance a of a case is spent on it with chance a/cost, so the total
	// grows with a, which is found by halving.
	low, high := 0.0, float64(size)
	for range 40 {
		a := (low + high) / 2
		total := 0.0
		cases(func(cost int) { total += min(float64(cost), a) })
		if total > float64(size) {
			high = a
		} else {
			low = a
		}
	}
	return sweepSample{low}
}

func (s sweepSample) takes(r *rand.Rand, cost int) bool {
	return s.allowance == everything || r.Float64()*float64(cost) < s.allowance
}

// sweepLevel is the part of the sweep that was asked for.
func sweepLevel(t *testing.T) (string, int64) {
	level := os.Getenv("LACONIC_SWEEP")
	size, ok := sweepSizes[level]
	if !ok {
		t.Fatalf("LACONIC_SWEEP=%q: it is half, full, or not set", level)
	}
	switch {
	case level != "":
	case rig.Raced():
		level, size = "a small sample", size/4
	default:
		level = "a sample"
	}
	return level, size
}
