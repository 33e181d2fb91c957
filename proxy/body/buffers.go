package body

import "sync"

// answerBuffer is the size of the buffers through which answers pass, one for each
// open answer. They are small, because they are most of what a stream costs.
const answerBuffer = 16 << 10

// Buffers is the httputil.BufferPool of answers. The zero value is ready for use.
type Buffers struct{ free sync.Pool }

// Get returns a buffer, of any content.
func (b *Buffers) Get() []byte {
	if buf, ok := b.free.Get().(*[answerBuffer]byte); ok {
		return buf[:]
	}
	return make([]byte, answerBuffer)
}

// Put takes a buffer of Get back.
func (b *Buffers) Put(buf []byte) { b.free.Put((*[answerBuffer]byte)(buf)) }
