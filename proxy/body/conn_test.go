package body

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"laconic/proxy/admission"
)

// slowConn calls during with what is written, before it is taken.
type slowConn struct {
	net.Conn
	during func(part []byte)
	got    bytes.Buffer
}

func (c *slowConn) Write(part []byte) (int, error) {
	c.during(part)
	return c.got.Write(part)
}

// TestABodyThatIsWrittenStaysAsItIs until the write is over, also where it is let go
// meanwhile.
func TestABodyThatIsWrittenStaysAsItIs(t *testing.T) {
	text := strings.Repeat("0123456789abcdef", 50_000)
	f := func(name string, again bool, end func(b *Outgoing)) {
		t.Helper()
		g := admission.NewGate(64<<20, 8<<20)
		buffers := &Buffers{Poison: true}
		data := buffers.Take(len(text))
		copy(data, text)
		r := g.Reserve("")
		if err := r.Acquire(t.Context(), int64(len(text))); err != nil {
			t.Fatal(err)
		}
		b := NewOutgoing(data, &Body{Sent: data, Text: data, Memory: r, buffers: buffers}, again)
		b.Watch = NewWatch(time.Hour, time.Hour, func(error) {})
		b.Watch.Answered()
		written := 0
		c := &slowConn{}
		c.during = func(part []byte) {
			if written++; written == 2 {
				end(b)
				if g.Stats().Bytes == 0 {
					t.Errorf("%s: its memory is free while it is written", name)
				}
			}
			if at := c.got.Len(); string(part) != text[at:at+len(part)] {
				t.Errorf("%s: it changed while it was written", name)
			}
		}
		_, err := io.Copy(Conn{c}, io.LimitReader(b, int64(len(text))))
		if err != nil || !strings.HasPrefix(text, c.got.String()) || written < 2 {
			t.Errorf("%s: %d bytes in %d writes, %v", name, c.got.Len(), written, err)
		}
		b.Release()
		_ = b.Close()
		if n := g.Stats().Bytes; n != 0 || data[0] != 0xdd {
			t.Errorf("%s: %d bytes are held in the end, and it begins with %q", name, n, data[0])
		}
	}
	f("written", false, func(*Outgoing) {})
	f("kept", true, func(*Outgoing) {})
	f("closed", false, func(b *Outgoing) { _ = b.Close() })
	f("released and closed", true, func(b *Outgoing) { b.Release(); _ = b.Close() })
}

func TestWhatIsNoBodyIsCopied(t *testing.T) {
	c := &slowConn{during: func([]byte) {}}
	n, err := io.Copy(Conn{c}, io.LimitReader(strings.NewReader("0123456789"), 5))
	if n != 5 || err != nil || c.got.String() != "01234" {
		t.Errorf("%d %v %q", n, err, c.got.String())
	}
}
