package demo

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"laconic/demo/strict"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// run plays the story through base and returns what was drawn.
func run(t *testing.T, up *strict.Upstream, base string, o Options) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	o.Out, o.Proxy, o.Upstream, o.Fast = &out, base, up, true
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

var seconds = regexp.MustCompile(`requests? in [0-9.]+m?s`)

// golden compares what was drawn with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	got = seconds.ReplaceAllString(got, "requests in 1.2s")
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got; -update writes it):\n%s", name, d)
	}
}

func TestTheShowWithoutAProxyFails(t *testing.T) {
	up := strict.New(strict.Options{Limit: Limit})
	got, err := run(t, up, straight(t, up), Options{Width: 120})
	if err == nil || !strings.Contains(err.Error(), "32 of 52 requests through the proxy were refused") ||
		!strings.Contains(err.Error(), "maximum context length is 20000 tokens") {
		t.Errorf("got %v", err)
	}
	golden(t, "straight.120.txt", got)
}

// The proxy's numbers are shown, not the upstream's: the budget is in the proxy's count.
func TestTheProxysOwnCountIsShown(t *testing.T) {
	up := strict.New(strict.Options{})
	base := between(t, up, func(r *http.Response) error {
		for name, value := range map[string]string{
			"before": "5000", "after": "4000", "budget": "6000", "outcome": "compacted", "stages": "trim_results;n=1;saved=1000",
		} {
			if name == "before" || name == "after" {
				name = "tokens-" + name
			}
			r.Header.Set("x-laconic-"+name, value)
		}
		return nil
	})
	got, err := run(t, up, base, Options{Turns: 1, Width: 120})
	if want := "5.0k → 4.0k       compacted  (ok)"; err != nil || !strings.Contains(got, want) {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestTheShowMayBeShort(t *testing.T) {
	up := strict.New(strict.Options{Limit: Limit})
	got, err := run(t, up, straight(t, up), Options{Turns: 5})
	if err != nil || !strings.Contains(got, "the story takes 5 requests") || !strings.Contains(got, " 5 requests in") {
		t.Errorf("%v\n%s", err, got)
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func TestNoLineIsWiderThanTheTerminalAndColourChangesNoText(t *testing.T) {
	up := strict.New(strict.Options{Limit: Limit})
	base := straight(t, up)
	draw := func(width int, color bool) string {
		t.Helper()
		// Far enough for refusals and every kind of note.
		drawn, _ := run(t, up, base, Options{Width: width, Turns: 34, Color: color})
		if strings.Contains(drawn, "\x1b[") != color {
			t.Errorf("colour %v is not what was drawn", color)
		}
		drawn = escapes.ReplaceAllString(seconds.ReplaceAllString(drawn, ""), "")
		for line := range strings.Lines(drawn) {
			if n := utf8.RuneCountInString(strings.TrimRight(line, " \n")); n > max(width, 80) {
				t.Errorf("width %d: %d columns: %s", width, n, line)
			}
		}
		return regexp.MustCompile(` +\n`).ReplaceAllString(drawn, "\n")
	}
	draw(40, false)
	if d := cmp.Diff(draw(120, false), draw(120, true)); d != "" {
		t.Error(d)
	}
}

// between is a proxy that changes the answers of an upstream.
func between(t *testing.T, up *strict.Upstream, change func(*http.Response) error) string {
	t.Helper()
	target, _ := url.Parse(straight(t, up))
	target.Path = ""
	p := httputil.NewSingleHostReverseProxy(target)
	transport := &http.Transport{}
	p.Transport, p.ModifyResponse, p.ErrorLog = transport, change, log.New(io.Discard, "", 0)
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
	if _, err := run(t, up, base, Options{}); err == nil || !strings.Contains(err.Error(), "the answer broke off") {
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

func TestOptionsAreChecked(t *testing.T) {
	if err := Run(context.Background(), Options{Out: io.Discard}); err == nil {
		t.Error("no error without proxy and upstream")
	}
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
	got, err := run(t, up, base, Options{Turns: 3})
	if err == nil || !strings.Contains(err.Error(), "1 of 3 requests") || n != 3 || !strings.Contains(got, "REFUSED") {
		t.Errorf("%d requests, %v\n%s", n, err, got)
	}
}
