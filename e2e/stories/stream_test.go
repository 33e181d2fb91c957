package stories

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"laconic/e2e/rig"

	"github.com/rogpeppe/go-internal/testscript"
)

// openStream is a streamed answer that a story reads event by event, from an
// upstream that was started with -steps.
type openStream struct {
	u       *upstream
	number  int // of the request, at the upstream
	res     *http.Response
	events  *bufio.Reader
	got     bytes.Buffer
	cancel  context.CancelFunc
	answers chan answered // of the request; one comes
}

type answered struct {
	res *http.Response
	err error
}

func (o *openStream) close() {
	o.cancel()
	if o.res != nil {
		_ = o.res.Body.Close()
	}
}

// openCommand: open [FLAG]… FILE sends a request, flags as post has them, and
// returns when the upstream has it: nothing was answered by then.
func openCommand(ts *testscript.TestScript, args []string) {
	var k ask
	k.file = flags(ts, args, 1, 1, k.flags)[0]
	s := storyOf(ts)
	u := s.upstreams["UPSTREAM"]
	if u == nil || u.steps == nil || s.stream != nil {
		ts.Fatalf("open needs an upstream -steps, and no other open stream")
	}
	o := &openStream{u: u, number: u.total() + 1, answers: make(chan answered, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	r := k.request(ts).WithContext(ctx)
	go func() {
		res, err := s.client.Do(r)
		o.answers <- answered{res, err}
	}()
	s.stream = o
	s.arrival(ts, "UPSTREAM", strconv.Itoa(o.number))
}

func (s *story) opened(ts *testscript.TestScript) *openStream {
	if s.stream == nil {
		ts.Fatalf("no stream is open")
	}
	return s.stream
}

// step lets the upstream write one event.
func (o *openStream) step() error {
	select {
	case o.u.steps <- struct{}{}:
		return nil
	case <-time.After(rig.Patience):
		return errors.New("the upstream has nothing more to say")
	}
}

// headers waits for the headers of the answer.
func (o *openStream) headers() error {
	if o.res != nil {
		return nil
	}
	select {
	case a := <-o.answers:
		if a.err != nil {
			return a.err
		}
		o.res, o.events = a.res, bufio.NewReader(a.res.Body)
		return nil
	case <-time.After(rig.Patience):
		return errors.New("the headers of the answer are held back")
	}
}

// headersCommand waits for the headers of the open answer. Nothing of its body
// was written unless the story asked for it.
func headersCommand(ts *testscript.TestScript, args []string) {
	flags(ts, args, 0, 0, nil)
	o := storyOf(ts).opened(ts)
	ts.Check(o.headers())
	fmt.Fprintln(ts.Stdout(), o.res.Status)
}

// event reads up to the empty line behind an event.
func (o *openStream) event() error {
	if err := o.headers(); err != nil {
		return err
	}
	for {
		line, err := o.events.ReadString('\n')
		o.got.WriteString(line)
		if err != nil {
			return err
		}
		if line == "\n" {
			return nil
		}
	}
}

// moreCommand: more N lets the upstream write N events, and reads each before
// the next is written: an event that is held back is never read.
func moreCommand(ts *testscript.TestScript, args []string) {
	n, err := strconv.Atoi(flags(ts, args, 1, 1, nil)[0])
	ts.Check(err)
	o := storyOf(ts).opened(ts)
	for i := range n {
		ts.Check(o.step())
		read := make(chan error, 1)
		go func() { read <- o.event() }()
		select {
		case err := <-read:
			ts.Check(err)
		case <-time.After(rig.Patience):
			o.close()
			<-read
			ts.Fatalf("event %d was held back", i+1)
		}
	}
	fmt.Fprintf(ts.Stdout(), "%d events\n", n)
}

// rest reads the stream to its end. Nothing is written any more unless the
// upstream was released.
func (s *story) rest(ts *testscript.TestScript) error {
	o := s.opened(ts)
	defer func() { s.stream = nil; o.close() }()
	watch := time.AfterFunc(rig.Patience, o.cancel)
	defer watch.Stop()
	for {
		if err := o.event(); err != nil {
			ts.Check(os.WriteFile(ts.MkAbs("answer.body"), o.got.Bytes(), 0o666))
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
}

// finishCommand lets the upstream write the rest; the answer must end as a
// complete one does. Its bytes go to answer.body.
func finishCommand(ts *testscript.TestScript, args []string) {
	flags(ts, args, 0, 0, nil)
	s := storyOf(ts)
	s.opened(ts).u.release()
	if err := s.rest(ts); err != nil {
		ts.Fatalf("the answer broke off: %v", err)
	}
}

// endsCommand waits until the answer is over, which must look complete, though
// the upstream writes nothing more.
func endsCommand(ts *testscript.TestScript, args []string) {
	flags(ts, args, 0, 0, nil)
	if err := storyOf(ts).rest(ts); err != nil {
		ts.Fatalf("the answer broke off: %v", err)
	}
}

// breaksCommand waits until the answer is over, which must look broken.
func breaksCommand(ts *testscript.TestScript, args []string) {
	flags(ts, args, 0, 0, nil)
	s := storyOf(ts)
	err := s.rest(ts)
	if err == nil {
		ts.Fatalf("the answer ended as if it were complete")
	}
	if errors.Is(err, context.Canceled) {
		ts.Fatalf("the answer neither ended nor broke in %v", rig.Patience)
	}
	fmt.Fprintln(ts.Stdout(), err)
}

// leaveCommand closes the connection of the open stream, and waits until the
// upstream knows.
func leaveCommand(ts *testscript.TestScript, args []string) {
	flags(ts, args, 0, 0, nil)
	s := storyOf(ts)
	o := s.opened(ts)
	o.close()
	if o.res == nil {
		if a := <-o.answers; a.err == nil {
			_ = a.res.Body.Close()
		}
	}
	s.stream = nil
	if !rig.Soon(func() bool { a, _ := o.u.nth(o.number); return a.left }) {
		ts.Fatalf("the upstream works on for a client that left")
	}
}
