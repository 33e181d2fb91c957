package proxy

import "time"

// How long a body is read that nobody wants: altogether, and without a byte.
const (
	lingerFor  = 5 * time.Second
	lingerIdle = time.Second
)

// bodyUnread tells whether the client may still be sending its body.
func (t *trip) bodyUnread() bool {
	if t.r.ContentLength == 0 || t.wholeBody || t.r.ProtoMajor != 1 || t.r.Header.Get("Expect") != "" {
		return false
	}
	return t.up == nil || !t.up.done.Load()
}

// linger reads what a client still sends that has its answer, for a while. Most
// clients read the answer only when they have sent everything, and a connection
// that is closed with bytes unread is reset, the answer in it lost (RFC 9112 §9.6).
func (t *trip) linger() {
	_ = t.up.Close()
	_ = t.w.FlushError()
	over := time.Now().Add(lingerFor)
	for buf := make([]byte, 32<<10); ; {
		now := time.Now()
		if !now.Before(over) || t.w.rc.SetReadDeadline(now.Add(min(lingerIdle, over.Sub(now)))) != nil {
			return
		}
		if _, err := t.r.Body.Read(buf); err != nil {
			return
		}
	}
}
