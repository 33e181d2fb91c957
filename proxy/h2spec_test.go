package proxy

import (
	"context"
	"crypto/tls"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// TestHostileH2Spec runs h2spec (github.com/summerwind/h2spec) against the proxy
// and against a server of Go's with the same settings: the proxy passes what
// that passes. It needs the program in LACONIC_H2SPEC; see make h2spec.
func TestHostileH2Spec(t *testing.T) {
	program := os.Getenv("LACONIC_H2SPEC")
	if program == "" {
		t.Skip("LACONIC_H2SPEC names no h2spec")
	}
	// h2spec asks for / and wants an answer with a body.
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, plainAnswer)
	})
	o := options(newUpstream(t, answer).base(t, ""))
	change, _ := overTLS(t)
	change(&o)
	p := start(t, o)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stock := p.server(answer)
	stock.TLSConfig, stock.HTTP2 = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: o.Certificate}, http2Limits
	var open atomic.Int64
	stock.ConnState = func(_ net.Conn, state http.ConnState) {
		switch state {
		case http.StateNew:
			open.Add(1)
		case http.StateClosed:
			open.Add(-1)
		}
	}
	done := make(chan error, 1)
	go func() { done <- stock.ServeTLS(l, "", "") }()
	defer func() {
		_ = stock.Close()
		if err := <-done; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
		// A connection that was told of an error is closed a second later.
		eventually(t, "the end of the connections", func() bool { return open.Load() == 0 })
	}()
	ours, theirs := h2spec(t, program, p.addr), h2spec(t, program, l.Addr().String())
	t.Logf("laconic: %s", ours)
	t.Logf("net/http: %s", theirs)
	if len(ours.failed) > len(theirs.failed) || ours.total != theirs.total || ours.total < 140 {
		t.Errorf("laconic fails %q, net/http fails %q", ours.failed, theirs.failed)
	}
	for _, name := range ours.failed {
		if !slices.Contains(theirs.failed, name) {
			t.Errorf("laconic alone fails %q", name)
		}
	}
}

// specified is what h2spec found.
type specified struct {
	total, skipped int
	failed         []string
}

func (s specified) String() string {
	return fmt.Sprintf("%d tests, %d passed, %d skipped, %d failed %q", s.total, s.total-s.skipped-len(s.failed), s.skipped, len(s.failed), s.failed)
}

func h2spec(t *testing.T, program, addr string) (s specified) {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.xml")
	host, port, _ := net.SplitHostPort(addr)
	ctx, stop := context.WithTimeout(t.Context(), 4*time.Minute)
	defer stop()
	out, _ := exec.CommandContext(ctx, program, "-t", "-k", "-h", host, "-p", port, "-o", "3", "--junit-report", report).CombinedOutput()
	b, err := os.ReadFile(report)
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var all struct {
		Suites []struct {
			Cases []struct {
				Package string    `xml:"package,attr"`
				Name    string    `xml:"classname,attr"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
				Skipped *struct{} `xml:"skipped"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	for _, suite := range all.Suites {
		for _, c := range suite.Cases {
			s.total++
			if c.Skipped != nil {
				s.skipped++
			}
			if c.Failure != nil || c.Error != nil {
				s.failed = append(s.failed, c.Package+" "+c.Name)
			}
		}
	}
	return s
}
