package proxy

import (
	"errors"
	"io"
	"iter"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/sync/semaphore"
)

const (
	// unpackedFrom is how much of a compressed answer is gathered before it is
	// unpacked: most are over by then, and none pays for it at every event.
	unpackedFrom = 8 << 10
	// mostWaiting is the most that is gathered: more waits only where an answer
	// holds so much text that unpacking it falls behind.
	mostWaiting = 256 << 10
	// mostAtOnce is how much text is unpacked between two reads, or at the end.
	// What is unpacked there has reached the client, what follows waits.
	mostAtOnce = 8 << 20
	// mostUnpacked is how much text an answer may hold in all: 200,000 tokens,
	// an event for each. What holds more is a bomb.
	mostUnpacked = 64 << 20
	// unpackingShare is the share of Limits.Memory that may be taken by the
	// windows of compressed answers on their way, as one in so many.
	unpackingShare = 8
	// besideWindow is what a decoder takes beside its window, and smallDecoder
	// what one takes that has a window of 32 KB, in all.
	besideWindow = 256 << 10
	smallDecoder = 64 << 10
)

// unpacker keeps the end of the text in a compressed body that is given to it
// in pieces. It stops for good, and knows nothing, where the body is damaged,
// is a bomb, or finds no memory for its window.
//
// Decoders ask for bytes; these come by themselves. So the decoder runs as a
// coroutine, which is asleep but for the calls of work and finish. The zero
// value, and nil, know nothing.
type unpacker struct {
	encoding string
	room     *semaphore.Weighted
	held     int64

	waiting []byte // came, and is not unpacked yet
	at      int    // what of it is
	ended   bool   // nothing follows
	lost    bool
	text    tail
	total   int // of text
	now     int // of text since it was woken

	next func() (struct{}, bool) // wakes the decoder; nil before the first time
	stop func()
}

func newUnpacker(encoding string, room *semaphore.Weighted) *unpacker {
	return &unpacker{encoding: encoding, room: room, text: tail{keep: tailSize}}
}

// add takes a piece.
func (u *unpacker) add(p []byte) {
	if u == nil || u.lost || u.ended {
		return
	}
	if len(u.waiting)-u.at+len(p) > mostWaiting {
		u.lose()
		return
	}
	u.waiting = append(u.waiting, p...)
}

// work unpacks what came, once it is worth it.
func (u *unpacker) work() {
	if u != nil && !u.lost && len(u.waiting)-u.at >= unpackedFrom {
		u.wake()
	}
}

// finish unpacks the rest. The text is the end of all; ok is false where that
// is not known.
func (u *unpacker) finish() (text []byte, ok bool) {
	if u == nil {
		return nil, false
	}
	if !u.ended && !u.lost {
		u.ended = true
		if u.wake() {
			u.lost = true // more text than is unpacked at once
		}
	}
	u.close()
	if u.lost {
		return nil, false
	}
	return u.text.b, true
}

// wake runs the decoder until it wants more. false: it is at its end.
func (u *unpacker) wake() bool {
	if u.next == nil && !u.start() {
		u.lose()
		return false
	}
	u.now = 0
	_, more := u.next()
	if !more {
		u.close()
	}
	return more
}

// start takes memory for a decoder and makes it.
func (u *unpacker) start() bool {
	window := windowOf(u.encoding, u.waiting)
	need := int64(smallDecoder)
	if window > 0 {
		need = int64(window) + besideWindow
	}
	if !u.room.TryAcquire(need) {
		return false
	}
	u.held = need
	u.next, u.stop = iter.Pull(func(yield func(struct{}) bool) { u.unpack(yield, window) })
	return true
}

// unpack is the decoder's life. It may end early: what is no compressed body,
// or more of one than a client of ours would read, tells no usage.
func (u *unpacker) unpack(yield func(struct{}) bool, window uint64) {
	lost := true // unless it comes to its end
	defer func() {
		_ = recover()
		u.lost = lost
	}()
	r, err := unpacked(u.encoding, pieces{u, yield}, window)
	if err != nil {
		lost = !atEnd(err)
		return
	}
	defer func() { _ = r.Close() }()
	buf := make([]byte, 4<<10)
	for {
		n, err := r.Read(buf)
		u.text.add(buf[:n])
		u.total += n
		u.now += n
		switch {
		case atEnd(err):
			lost = false
			return
		case err != nil, u.total > mostUnpacked:
			return
		case u.now > mostAtOnce:
			if !yield(struct{}{}) {
				return
			}
		}
	}
}

// atEnd tells whether a body ended, if only because it broke off: then it tells
// what stands before that.
func atEnd(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }

// lose gives up.
func (u *unpacker) lose() {
	u.lost = true
	u.close()
}

// close ends the decoder and gives back its memory. It may be called twice.
func (u *unpacker) close() {
	u.waiting, u.at, u.ended = nil, 0, true
	if u.stop != nil {
		u.stop()
		u.room.Release(u.held)
		u.next, u.stop, u.held = nil, nil, 0
	}
}

// pieces are what the decoder reads: at the end of what came it sleeps.
type pieces struct {
	u     *unpacker
	yield func(struct{}) bool
}

var errStopped = errors.New("stopped")

func (p pieces) Read(buf []byte) (int, error) {
	if err := p.more(); err != nil {
		return 0, err
	}
	n := copy(buf, p.u.waiting[p.u.at:])
	p.u.at += n
	return n, nil
}

// ReadByte spares the decoder a buffer.
func (p pieces) ReadByte() (byte, error) {
	if err := p.more(); err != nil {
		return 0, err
	}
	b := p.u.waiting[p.u.at]
	p.u.at++
	return b, nil
}

func (p pieces) more() error {
	for p.u.at == len(p.u.waiting) {
		p.u.waiting, p.u.at = p.u.waiting[:0], 0
		if p.u.ended {
			return io.EOF
		}
		if !p.yield(struct{}{}) {
			return errStopped
		}
	}
	return nil
}

// windowOf is how much text a decoder of a body has to remember, by the start of
// the body; 0 where that is always little. Servers that take the default of
// their encoder ask for 2 to 8 MB.
func windowOf(encoding string, start []byte) uint64 {
	switch {
	case encoding == "br" && len(start) > 0:
		return 1 << brotliWindowBits(start[0])
	case encoding == "zstd":
		var h zstd.Header
		switch err := h.Decode(start); {
		case err != nil || h.Skippable:
			return maxZstdWindow
		case h.SingleSegment:
			return min(max(h.FrameContentSize, zstd.MinWindowSize), maxZstdWindow)
		default:
			return min(max(h.WindowSize, zstd.MinWindowSize), maxZstdWindow)
		}
	}
	return 0
}

// brotliWindowBits reads the first bits of a brotli body (RFC 7932 §9.1).
func brotliWindowBits(b byte) int {
	switch {
	case b&1 == 0:
		return 16
	case b&0x0e != 0:
		return 17 + int(b>>1&7)
	case b&0x70 != 0:
		return 8 + int(b>>4&7)
	}
	return 17
}
