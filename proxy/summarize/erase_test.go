package summarize

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"testing"
	"time"

	"laconic/compact"
	"laconic/store"
	"laconic/store/storetest"
)

// owned is an agent whose requests have an owner.
func owned(a *agent, owner string) func(n int) (texts []string, info *Info) {
	return func(n int) ([]string, *Info) {
		in, plan := a.planned(n)
		r := a.asks()
		r.Owner, r.Header = owner, http.Header{"Authorization": {"Bearer " + owner}}
		texts, info := a.s.Text(a.t.Context(), r, in, &plan)
		return texts, info
	}
}

// TestWhatIsErasedIsMadeAnew, and what another owner has is not touched, though the
// conversation is the same. What is not about a conversation stays in the store.
func TestWhatIsErasedIsMadeAnew(t *testing.T) {
	a := newAgent(t, 8000)
	n := a.stepWith(spansOf(1))
	mine, other := owned(a, "mine"), owned(a, "other")
	for _, ask := range []func(int) ([]string, *Info){mine, other} {
		if texts, info := ask(n); info.Outcome != Made {
			t.Fatalf("%+v %q", info, texts)
		}
	}
	fact := a.s.store.Key(a.s.store.Group("facts"), "m")
	if err := a.s.store.Put(t.Context(), fact, "learnt"); err != nil {
		t.Fatal(err)
	}
	gone, err := a.s.Erase(t.Context(), "mine")
	if gone != 1 || err != nil {
		t.Errorf("%d were erased, %v", gone, err)
	}
	asked := len(a.prompts)
	if _, info := other(n); info.Outcome != Hit || len(a.prompts) != asked {
		t.Errorf("that of another: %+v", info)
	}
	if _, info := mine(n); info.Outcome != Made || len(a.prompts) != asked+1 {
		t.Errorf("afterwards: %+v, asked %d times", info, len(a.prompts)-asked)
	}
	if _, ok := a.s.store.Get(t.Context(), fact); !ok {
		t.Error("what was learnt is gone")
	}
}

// TestAJobUnderWayStoresNothingOfWhatIsErased: the model is asked, and answers after
// the erasure; the request that waits has its digest.
func TestAJobUnderWayStoresNothingOfWhatIsErased(t *testing.T) {
	a := newAgent(t, 8000)
	asked, answer := make(chan struct{}), make(chan struct{})
	a.answer = func(string) string {
		asked <- struct{}{}
		<-answer
		return stated
	}
	var ended []JobInfo
	a.s.env.Ended = func(i JobInfo) { ended = append(ended, i) }
	n := a.stepWith(spansOf(1))
	var got *Info
	var wait sync.WaitGroup
	wait.Go(func() { _, got = owned(a, "mine")(n) })
	<-asked
	if gone, err := a.s.Erase(t.Context(), "mine"); gone != 0 || err != nil {
		t.Errorf("%d were erased, %v", gone, err)
	}
	close(answer)
	wait.Wait()
	if got.Outcome != Digest || got.Reason != erased {
		t.Errorf("the request that waited: %+v", got)
	}
	a.s.ended.Wait()
	if len(ended) != 1 || ended[0].Reason != erased {
		t.Errorf("the job: %+v", ended)
	}
	if gone, err := a.s.Erase(t.Context(), "mine"); gone != 0 || err != nil {
		t.Errorf("%d were stored after all, %v", gone, err)
	}
	for range a.s.texts.Keys() {
		t.Error("it is remembered")
	}
}

// slow is a store whose next Put waits.
type slow struct {
	*store.Memory
	begun, end chan struct{}
	fail       error
}

func (s *slow) Put(ctx context.Context, k store.Key, value []byte, ttl time.Duration) error {
	s.begun <- struct{}{}
	<-s.end
	return s.Memory.Put(ctx, k, value, ttl)
}

func (s *slow) DeleteGroup(ctx context.Context, g store.Group) (int, error) {
	if s.fail != nil {
		return 0, s.fail
	}
	return s.Memory.DeleteGroup(ctx, g)
}

// TestASummaryOnItsWayToTheStoreIsErasedToo.
func TestASummaryOnItsWayToTheStoreIsErasedToo(t *testing.T) {
	a := newAgent(t, 8000)
	s := &slow{Memory: store.NewMemory(0), begun: make(chan struct{}), end: make(chan struct{})}
	vault, err := store.NewVault(s, []byte("a secret of this test"), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer vault.Close()
	a.s.store = vault
	n := a.stepWith(spansOf(1))
	var wait sync.WaitGroup
	wait.Go(func() { owned(a, "mine")(n) })
	<-s.begun
	wait.Go(func() {
		if gone, err := a.s.Erase(t.Context(), "mine"); gone != 1 || err != nil {
			t.Errorf("%d were erased, %v", gone, err)
		}
	})
	for range 1000 {
		runtime.Gosched() // it must not get ahead of the value
	}
	s.end <- struct{}{}
	wait.Wait()
	if left, _ := s.Memory.DeleteGroup(t.Context(), a.s.group("mine")); left > 0 {
		t.Error("it is in the store")
	}
	key := vault.Key(a.s.group("mine"), "r", "k")
	(&job{s: a.s, erased: true}).store(t.Context(), key, "text") // another one waits for nobody
	if _, ok := vault.Get(t.Context(), key); ok {
		t.Error("a job has stored what was erased before")
	}
	s.fail = errors.New("gone")
	if _, err := a.s.Erase(t.Context(), "mine"); !errors.Is(err, s.fail) {
		t.Errorf("of a store that fails: %v", err)
	}
}

// TestDigestsAreForgotten, also without a model; and what a request under way says
// then is not remembered.
func TestDigestsAreForgotten(t *testing.T) {
	s, asked, left := New(nil, Environment{}), 0, true
	mine := func() records { r := asking(); r.Owner = "mine"; return s.Records(r) }
	other := func() records { r := asking(); r.Header.Set("Authorization", "Bearer b"); return s.Records(r) }
	f := func(of records, want int) {
		t.Helper()
		asked = 0
		of(echo{&asked}, nil, func() bool { return left })([]compact.Message{{Parts: []compact.Part{{Text: compact.Plain("text")}}}}, nil, 10, true)
		if asked != want {
			t.Errorf("asked %d times, want %d", asked, want)
		}
	}
	late := mine()
	f(late, 1) // what is said to nobody is not remembered
	left = false
	f(late, 1)
	f(mine(), 0)
	f(other(), 1)
	if gone, err := s.Erase(t.Context(), "mine"); gone != 0 || err != nil {
		t.Errorf("%d, %v", gone, err)
	}
	f(other(), 0)
	f(late, 1)
	f(mine(), 1)
	f(mine(), 0)
}

// TestAllWhoShareTheStoreForget: a process is asked, and another one that has the
// summary in its memory has it no more, and says so.
func TestAllWhoShareTheStoreForget(t *testing.T) {
	redis := storetest.StartRedis(t)
	o := store.Options{Kind: store.InRedis, URL: redis.URL(), Secret: []byte("a secret of this test")}
	infos := make(chan ErasedInfo, 99)
	process := func(erased func(ErasedInfo)) *agent {
		a := newAgent(t, 8000)
		a.s.env.Erased = erased
		a.s.env.Store = opened(t, o)
		a.s = New(&a.s.o, a.s.env)
		t.Cleanup(a.s.Close)
		return a
	}
	one := process(func(i ErasedInfo) { t.Errorf("who was asked: %+v", i) })
	other := process(func(i ErasedInfo) { infos <- i })
	n := one.stepWith(spansOf(1))
	if _, info := owned(one, "mine")(n); info.Outcome != Made {
		t.Fatalf("%+v", info)
	}
	if _, info := owned(other, "mine")(n); info.Outcome != Hit {
		t.Fatalf("%+v", info)
	}
	heard := func(asked *Service, infos chan ErasedInfo) {
		t.Helper()
		for range 30 { // it may not hear yet, so that a word is lost
			if _, err := asked.Erase(t.Context(), "mine"); err != nil {
				t.Fatal(err)
			}
			select {
			case i := <-infos:
				if i.Failed {
					t.Errorf("%+v", i)
				}
				return
			case <-time.After(time.Second):
			}
		}
		t.Fatal("nobody was told")
	}
	heard(one.s, infos)
	// A word that is said while it does not hear is done when it hears again.
	if _, err := redis.Do("CLIENT KILL TYPE pubsub"); err != nil {
		t.Fatal(err)
	}
	if _, err := one.s.Erase(t.Context(), "mine"); err != nil {
		t.Fatal(err)
	}
	select {
	case <-infos:
	case <-time.After(10 * time.Second):
		t.Error("what was erased while a process did not hear stays there")
	}
	if _, info := owned(other, "mine")(n); info.Outcome != Made || len(other.prompts) != 1 {
		t.Errorf("it is remembered elsewhere: %+v", info)
	}
	one.s.Close()
	// Those without a model have texts that were captured: they tell, and are told.
	bareInfos := make(chan ErasedInfo, 99)
	bare := New(nil, Environment{Store: other.s.store, Erased: func(i ErasedInfo) { bareInfos <- i }})
	t.Cleanup(bare.Close)
	heard(other.s, bareInfos)
	heard(bare, infos)
}

// TestWhoeverIsNotToldMayRemember, and who asks is told so: the user of the Redis has no
// right to its channel.
func TestWhoeverIsNotToldMayRemember(t *testing.T) {
	a := newAgent(t, 8000)
	url := storetest.StartRedis(t, "--user", "default", "on", "nopass", "~*", "resetchannels", "+@all").URL()
	vault := opened(t, store.Options{Kind: store.InRedis, URL: url, Secret: []byte("a secret of this test")})
	a.s.store = vault
	if err := vault.Put(t.Context(), vault.Key(a.s.group("mine"), "r", "k"), "text"); err != nil {
		t.Fatal(err)
	}
	if gone, err := a.s.Erase(t.Context(), "mine"); gone != 1 || !errors.Is(err, ErrUnheard) {
		t.Errorf("%d were erased, %v", gone, err)
	}
}
