package learn

import (
	"context"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"laconic/compact"
)

// board is a place for facts whose processes call to each other.
type board struct {
	mu    sync.Mutex
	kept  map[Key]Facts
	saves int
	loads int
	full  bool
	// silent: nothing is read; dead: neither are these.
	silent bool
	dead   map[Key]bool
	calls  []chan Key
}

// set changes the board, and begins to count anew.
func (b *board) set(change func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change()
	b.saves, b.loads = 0, 0
}

func (b *board) Load(_ context.Context, key Key) (Facts, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.loads++
	return b.kept[key], !b.silent && !b.dead[key]
}

func (b *board) Save(_ context.Context, key Key, f Facts) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.saves++; b.full {
		return false
	}
	b.kept[key] = f
	for _, c := range b.calls {
		c <- key
	}
	return true
}

func (b *board) Watch(ctx context.Context, saved func(Key), missed func()) {
	c := make(chan Key, 1000)
	b.mu.Lock()
	b.calls = append(b.calls, c)
	b.mu.Unlock()
	missed()
	for {
		select {
		case key := <-c:
			saved(key)
		case <-ctx.Done():
			return
		}
	}
}

// replicas are memories with one store.
func replicas(n int) (b *board, all []*Memory, end func()) {
	b = &board{kept: map[Key]Facts{}}
	for range n {
		all = append(all, New(Options{
			Store: b, Secret: []byte("the same"), Failed: func(v any) { panic(v) },
			Calibrate: func(_, way, percent int) Calibration { return &newest{percent: percent} },
		}))
	}
	return b, all, func() {
		for _, m := range all {
			m.Close()
		}
	}
}

// newest is a calibration that believes each answer.
type newest struct{ percent int }

func (n *newest) Answered(sizes []int, _, counted int) bool {
	n.percent = counted * 100 / sizes[0]
	return false
}
func (n *newest) Refused(sizes []int, _, counted int) { n.percent = counted * 100 / sizes[0] }
func (n *newest) Count() (int, int, bool)             { return 0, n.percent, n.percent > 0 }

// TestReplicasKnowWhatOneHasLearnt without a request that asks: limits, counts,
// demands and cuts, the newest of each, also where two learn at once.
func TestReplicasKnowWhatOneHasLearnt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, all, end := replicas(3)
		defer end()
		var models []*Model
		for _, m := range all {
			models = append(models, m.model())
			m.model().Facts()
		}
		synctest.Wait() // they hear
		agree := func(what string, want func(f *Facts) bool) {
			t.Helper()
			synctest.Wait()
			time.Sleep(saveAgain)
			synctest.Wait()
			first := models[0].Facts()
			for i, m := range models {
				if f := m.Facts(); !f.Equal(first) || !want(&f) {
					t.Errorf("%s: replica %d has %+v, the first %+v", what, i, f, first)
				}
			}
		}
		models[1].Refused(refusal(8000, 9000), sent(9000))
		agree("a limit", func(f *Facts) bool { return f.Window.Value == 8000 })
		models[2].Answered(sent(1000), Bill{Prompt: 1200, Completion: 1})
		agree("a count", func(f *Facts) bool { return f.Count.Value.Percent == 120 })
		models[0].Answered(sent(1000), Bill{Prompt: 1100, Completion: 1})
		agree("a count that another one has measured, too", func(f *Facts) bool { return f.Count.Value.Percent == 110 })
		models[0].SetDemands(compact.NoSlot)
		models[1].AddCut("1")
		models[2].AddCut("2")
		agree("three at once", func(f *Facts) bool { return f.Demands.Value == compact.NoSlot && len(f.Cuts) == 2 })
		if b.mu.Lock(); b.saves > 12 {
			t.Errorf("saved %d times", b.saves)
		}
		b.mu.Unlock()
	})
}

// lying is a store that has always been saved to, and never what was.
type lying struct{ board }

func (l *lying) Load(context.Context, Key) (Facts, bool) { return Facts{}, true }

// TestAStoreThatNeverKeepsIsAskedAFewTimesASecond: a process answers itself for ever.
func TestAStoreThatNeverKeepsIsAskedAFewTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lying{board{kept: map[Key]Facts{}}}
		m := New(Options{Store: l, Failed: func(v any) { panic(v) }})
		m.model().Facts()
		synctest.Wait() // it hears
		m.model().SetDemands(compact.NoSlot)
		time.Sleep(time.Minute)
		m.Close()
		if l.saves < 2 || l.saves > 61*4 {
			t.Errorf("saved %d times", l.saves)
		}
	})
}

// TestWhatCouldNotBeSavedIsSavedSoon, without a request that asks, and not tried at
// every one. A store that takes nothing is read all the same; one that is away is tried
// for a few models a second, and one that is away for some does not hold back others.
func TestWhatCouldNotBeSavedIsSavedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{kept: map[Key]Facts{}, dead: map[Key]bool{}, full: true}
		m := New(Options{Store: b, Failed: func(v any) { panic(v) }})
		defer m.Close()
		const models = 500
		after := func(wait time.Duration) (saves, loads, kept int) {
			time.Sleep(wait)
			synctest.Wait()
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.saves, b.loads, len(b.kept)
		}
		for i := range models {
			name := strconv.Itoa(i)
			m.Model(m.Key(name), &url.URL{Host: "upstream"}, name, Key{}).SetDemands(compact.NoSlot)
			b.set(func() { b.dead[m.Key(name)] = i%3 == 0 })
		}
		dead := (models + 2) / 3
		if saves, loads, _ := after(10 * time.Second); saves > 11*models || loads < models-dead {
			t.Errorf("full: %d saves and %d reads in ten seconds", saves, loads)
		}
		b.set(func() { b.silent = true })
		if saves, loads, _ := after(10 * time.Second); saves > 0 || loads < 9 || loads > 11*models {
			t.Errorf("away: %d saves and %d reads in ten seconds", saves, loads)
		}
		b.set(func() { b.silent, b.full = false, false })
		if _, _, kept := after(2 * saveAgain); kept != models-dead {
			t.Errorf("kept %d of %d, %d of them where nobody answers", kept, models, dead)
		}
		b.set(func() { clear(b.dead) })
		if _, _, kept := after(3 * saveAgain); kept != models {
			t.Errorf("kept %d of %d in the end", kept, models)
		}
	})
}

// TestAStoreThatComesBack: what could not be read is read soon, though the store says
// nothing, and one that lost all gets it back once it says that words may have been
// missed, without a request that asks.
func TestAStoreThatComesBack(t *testing.T) {
	f := func(name string, fails func(b *board, one, other *Memory)) {
		synctest.Test(t, func(t *testing.T) {
			b, all, end := replicas(2)
			defer end()
			synctest.Wait() // they hear
			all[0].model().SetDemands(compact.NoSlot)
			synctest.Wait()
			fails(b, all[0], all[1])
			synctest.Wait()
			if f := all[1].model().Facts(); f.Demands.Value != compact.NoSlot {
				t.Errorf("%s: %+v", name, f)
			}
		})
	}
	f("silent", func(b *board, _, other *Memory) {
		b.set(func() { b.silent = true })
		other.model().Facts()
		time.Sleep(10 * time.Second)
		b.set(func() { b.silent = false })
		time.Sleep(2 * saveAgain)
	})
	f("emptied", func(b *board, one, _ *Memory) {
		b.set(func() { clear(b.kept) })
		one.missed()
		time.Sleep(saveAgain)
	})
}

// TestWhatIsDueAtTheEndIsSaved before Close returns.
func TestWhatIsDueAtTheEndIsSaved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{kept: map[Key]Facts{}}
		m := New(Options{Store: b, Failed: func(v any) { panic(v) }})
		m.model().SetDemands(compact.NoSlot)
		m.Close()
		if f := b.kept[m.Key("m")]; f.Demands.Value != compact.NoSlot {
			t.Errorf("%+v", f)
		}
	})
}
