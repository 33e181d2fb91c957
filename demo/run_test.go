package demo

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"laconic/demo/strict"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run plays the story through base and returns what was drawn.
func run(t *testing.T, up *strict.Upstream, base string, o Options) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	o.Out, o.Proxy, o.Upstream, o.Budget, o.Fast = &out, base, up, Budget, true
	err := Run(ctx, o)
	return out.String(), err
}

// straight is an upstream without a proxy before it.
func straight(t *testing.T, up *strict.Upstream) string {
	t.Helper()
	srv := httptest.NewServer(up)
	t.Cleanup(srv.Close)
	return srv.URL + "/v1"
}

func TestTheShowWithoutAProxyFails(t *testing.T) {
	up := strict.New(strict.Options{Limit: Limit})
	got, err := run(t, up, straight(t, up), Options{})
	if err == nil || !strings.Contains(err.Error(), "31 of 51 requests through the proxy were refused") ||
		!strings.Contains(err.Error(), "maximum context length is 20000 tokens") {
		t.Errorf("got %v", err)
	}
	for _, want := range []string{
		"  1  list, read       █   │              1.2k → 1.2k       answered   (ok)\n",
		" 21  edit, run        ████│█            21.6k → 21.6k      REFUSED    (too long)",
		" 28  run              ████│███          29.0k → 29.0k      REFUSED    (both)",
		"This model's maximum context length is 20000 tokens", "this call never gets a result", "31 of 51",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestColourChangesNoText(t *testing.T) {
	up, other := strict.New(strict.Options{Limit: Limit}), strict.New(strict.Options{Limit: Limit}) // each has a cache
	without, _ := run(t, up, straight(t, up), Options{})
	drawn, _ := run(t, other, straight(t, other), Options{Color: true})
	if d := cmp.Diff(without, escapes.ReplaceAllString(drawn, "")); d != "" || drawn == without {
		t.Error(d)
	}
	for line := range strings.Lines(without) {
		if utf8.RuneCountInString(line) > width+1 {
			t.Errorf("too wide: %s", line)
		}
	}
}

// between is a proxy that changes the answers of an upstream.
func between(t *testing.T, up *strict.Upstream, change func(*http.Response) error) string {
	t.Helper()
	target, _ := url.Parse(straight(t, up))
	target.Path = ""
	p := httputil.NewSingleHostReverseProxy(target)
	transport := &http.Transport{}
	p.Transport, p.ErrorLog = transport, log.New(io.Discard, "", 0)
	p.ModifyResponse = func(r *http.Response) error {
		r.Header.Del("Content-Length")
		return change(r)
	}
	srv := httptest.NewServer(p)
	t.Cleanup(func() { srv.Close(); transport.CloseIdleConnections() })
	return srv.URL + "/v1"
}

func TestAnAnswerThatChangedEndsTheShow(t *testing.T) {
	up := strict.New(strict.Options{Limit: Limit})
	f := func(old, new string) {
		t.Helper()
		base := between(t, up, func(r *http.Response) error {
			body, err := io.ReadAll(r.Body)
			body = bytes.Replace(body, []byte(old), []byte(new), 1)
			r.Body = io.NopCloser(bytes.NewReader(body))
			return err
		})
		if _, err := run(t, up, base, Options{}); err == nil || !strings.Contains(err.Error(), "request 1: the answer arrived changed") {
			t.Errorf("%q → %q: got %v", old, new, err)
		}
	}
	f("layout", "lay-out")
	f("README.md", "readme.md")
}

// broken is a body that ends in the middle.
type broken struct{ io.Reader }

func (b broken) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}
func (broken) Close() error { return nil }

func TestAnAnswerThatBreaksOffEndsTheShow(t *testing.T) {
	up := strict.New(strict.Options{Limit: Limit})
	base := between(t, up, func(r *http.Response) error {
		head, _ := io.ReadAll(io.LimitReader(r.Body, 2000))
		_, _ = io.Copy(io.Discard, r.Body)
		r.Body = broken{bytes.NewReader(head)}
		return nil
	})
	if _, err := run(t, up, base, Options{}); err == nil || !strings.Contains(err.Error(), "no answer from the proxy") {
		t.Errorf("got %v", err)
	}
}

func TestNoProxyAtAll(t *testing.T) {
	up := strict.New(strict.Options{})
	srv := httptest.NewServer(up)
	base := srv.URL + "/v1"
	srv.Close()
	if _, err := run(t, up, base, Options{}); err == nil || !strings.Contains(err.Error(), "no answer from the proxy") {
		t.Errorf("got %v", err)
	}
}

// Messages cost 10 each here, tools 5.
func TestDropOldest(t *testing.T) {
	f := func(roles string, budget int, want string) {
		t.Helper()
		req := strict.Request{ToolTokens: 5}
		for _, r := range roles {
			role := map[rune]string{'s': "system", 'u': "user", 'a': "assistant", 't': "tool"}[r]
			req.Messages = append(req.Messages, strict.Message{Role: role, Tokens: 10})
			req.MessageTokens += 10
		}
		kept := dropOldest(req, budget)
		got := ""
		for _, m := range kept.Messages {
			got += m.Role[:1]
		}
		if got != want || kept.PromptTokens() != 5+10*len(want) {
			t.Errorf("%s at %d: got %s with %d tokens, want %s", roles, budget, got, kept.PromptTokens(), want)
		}
	}
	f("suau", 45, "suau")
	f("suau", 44, "sau")
	f("suatau", 45, "sau") // a result does not stand first
	f("suattt", 20, "st")  // the last message always stays
}

func TestTheShowEndsWithItsContext(t *testing.T) {
	up := strict.New(strict.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	err := Run(ctx, Options{Out: io.Discard, Proxy: straight(t, up), Upstream: up})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// An error that a proxy makes up itself is a refusal, too, and the story goes on.
func TestAnErrorOfTheProxyCounts(t *testing.T) {
	up := strict.New(strict.Options{Limit: Limit})
	n := 0
	base := between(t, up, func(r *http.Response) error {
		if n++; n == 2 {
			_, _ = io.Copy(io.Discard, r.Body)
			r.StatusCode, r.Body = 502, io.NopCloser(strings.NewReader("bad gateway"))
			r.Header.Set("Content-Type", "text/plain")
		}
		return nil
	})
	got, err := run(t, up, base, Options{})
	if err == nil || !strings.Contains(err.Error(), " of 51 requests") || !strings.Contains(err.Error(), "bad gateway") || n != 51 || !strings.Contains(got, "REFUSED") {
		t.Errorf("%d requests, %v\n%s", n, err, got)
	}
}
