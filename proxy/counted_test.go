package proxy

import (
	"fmt"
	"reflect"
	"sync/atomic"
	"testing"

	"go.uber.org/zap"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// remembering counts words, and says of each request how many parts it was
// asked about.
type remembering struct {
	compacttest.Words
	asked *atomic.Int64
}

func (r remembering) Part(p *compact.Part) int {
	if r.asked != nil {
		r.asked.Add(1)
	}
	return r.Words.Part(p)
}

func (r remembering) ForRequest() (compact.Counter, func() (hits, misses int)) {
	one := remembering{asked: new(atomic.Int64)}
	return one, func() (hits, misses int) { return int(one.asked.Load()), 1 }
}

func TestHowTextsWereCountedIsLogged(t *testing.T) {
	u := newUpstream(t, nil)
	var log logged
	counter := compact.Counter(remembering{})
	p := inFrontOf(t, u, func(o *Options) {
		o.Listener = LogTo(log.at(zap.DebugLevel))
		o.Default.Counter = counter
	})
	f := func(n int, body string, want any) {
		t.Helper()
		p.chat(body)
		p.replies(n)
		lines := log.lines(t)
		if got := lines[len(lines)-1]["counted"]; !reflect.DeepEqual(fmt.Sprint(got), fmt.Sprint(want)) {
			t.Errorf("counted is %v, want %v", got, want)
		}
	}
	one := `{"messages":[{"role":"user","content":"x"}]}`
	f(1, one, map[string]any{"hits": 1, "misses": 1})
	f(2, `{"messages":[{"role":"system","content":"x"},{"role":"user","content":"x"}]}`, map[string]any{"hits": 2, "misses": 1})
	f(3, one, map[string]any{"hits": 1, "misses": 1}) // of this request, not of all
}
