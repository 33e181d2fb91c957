package body

import (
	"io"
	"net"
)

// Conn is a connection to an upstream, to which an Outgoing body is written as it is.
// Else net/http copies it through a buffer of 32 KB that it makes for each request.
type Conn struct{ net.Conn }

// ReadFrom writes what it reads from r.
func (c Conn) ReadFrom(r io.Reader) (int64, error) {
	if l, ok := r.(*io.LimitedReader); ok {
		if b, ok := l.R.(*Outgoing); ok {
			n, err := b.writeTo(c.Conn, l.N)
			l.N -= n
			return n, err
		}
	}
	return io.Copy(c.Conn, r)
}
