package proxy

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestRequestsAreTakenWhileABalancerLearns: between the signal and the end of the
// listener, requests are answered, on connections that are open and on new ones, and
// are told to connect anew. Nothing is taken afterwards.
func TestRequestsAreTakenWhileABalancerLearns(t *testing.T) {
	for _, drain := range []time.Duration{0, 5 * time.Second} {
		synctest.Test(t, func(t *testing.T) {
			v := newVirtual(t, nil, func(o *Options) { o.Limits.Drain = drain })
			ask := func() (*http.Response, error) {
				conn, err := v.in.dial(t.Context(), "", "")
				if err != nil {
					return nil, err
				}
				defer conn.Close()
				go func() {
					_, _ = io.WriteString(conn, strings.Replace(post("", chatBody), "Connection: close\r\n", "", 1))
				}()
				res, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err == nil {
					_, err = io.Copy(io.Discard, res.Body)
				}
				return res, err
			}
			if res, err := ask(); err != nil || res.StatusCode != 200 || res.Close {
				t.Fatalf("before: %v %v", res, err)
			}
			began := time.Now()
			v.stop()
			synctest.Wait()
			if why := v.p.notReady(); why != "shutting down" {
				t.Errorf("/readyz says %q", why)
			}
			taken := 0
			for range 8 {
				res, err := ask()
				if open := time.Since(began) < drain; (err == nil) != open {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				if err == nil {
					if taken++; res.StatusCode != 200 || !res.Close {
						t.Errorf("after %v: %d, close %v", time.Since(began), res.StatusCode, res.Close)
					}
				}
				time.Sleep(time.Second)
				synctest.Wait() // what ends at this very moment has ended
			}
			if want := int(drain / time.Second); taken != want {
				t.Errorf("%d requests were taken, want %d", taken, want)
			}
		})
	}
}

// TestWhatShutdownGivesBeginsAfterTheDrain: a stream that is open at the signal has
// both. The listener is told of each step.
func TestWhatShutdownGivesBeginsAfterTheDrain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steps := make(chan StopInfo, 9)
		reply, _, _ := leaving("data: 1\n\n")
		v := newVirtual(t, reply, func(o *Options) {
			o.Limits.Drain, o.Limits.Shutdown = 5*time.Second, 8*time.Second
			o.Listener.Stopping = func(i StopInfo) { steps <- i }
		})
		conn := v.dial()
		defer conn.Close()
		go func() { _, _ = io.WriteString(conn, post("", chatBody)) }()
		in := bufio.NewReader(conn)
		until(t, in, "data: 1\n")
		began := time.Now()
		v.stop()
		rest, _ := io.ReadAll(in)
		if took := time.Since(began); took != 12*time.Second { // the last second is for closing
			t.Errorf("it was cut after %v", took)
		}
		if strings.HasSuffix(string(rest), "0\r\n\r\n") {
			t.Errorf("a clean end: %q", rest)
		}
		for _, want := range []StopInfo{
			{Step: StopBegun, Within: 5 * time.Second, Requests: 1, Streams: 1},
			{Step: StopClosed, Within: 8 * time.Second, Requests: 1, Streams: 1, Duration: 5 * time.Second},
			{Step: StopEnded, Cut: 1},
		} {
			got := <-steps
			if want.Step == StopEnded {
				want.Duration = min(max(got.Duration, 12*time.Second), 13*time.Second)
			}
			if got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		}
	})
}

// TestConnectionsWithoutARequestHoldUpNoEnd: nothing that comes on them would be served.
func TestConnectionsWithoutARequestHoldUpNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, ended := newEnding(t)
		silent, half := v.dial(), v.dial()
		defer silent.Close()
		defer half.Close()
		_, _ = io.WriteString(half, "POST /v1/chat/completions HTTP/1.1\r\nHo")
		synctest.Wait()
		v.stop()
		for _, conn := range []net.Conn{silent, half} {
			if _, err := conn.Read(make([]byte, 1)); err != io.EOF {
				t.Error(err)
			}
		}
		if i := <-ended; i.Cut != 0 || i.Duration > time.Second {
			t.Errorf("%+v", i)
		}
	})
}
