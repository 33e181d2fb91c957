package body

import (
	"math/bits"
	"sync"
	"unsafe"
)

// Buffers are pieces of memory that are used again and again: for bodies, and for
// answers that pass through. What is not used for a while goes to the collector.
// The zero value is ready for use, also concurrently.
type Buffers struct {
	// Poison overwrites what is given back, so that a test sees who still reads it.
	Poison bool

	sizes [sizes]sync.Pool // of the first byte of each
}

// The sizes of buffers are four in each power of two, from leastBuffer on. What is
// larger than the last is not kept.
const (
	leastBuffer = 1 << 10
	sizes       = 4 * 17
)

// sizeAt returns the size of the i-th kind of buffer.
func sizeAt(i int) int { return (leastBuffer / 4) * (4 + i%4) << (i / 4) }

// sizeFor returns the index of the smallest size for n bytes; sizes or more: none is
// large enough.
func sizeFor(n int) int {
	if n <= leastBuffer {
		return 0
	}
	power := bits.Len(uint(n-1)/leastBuffer) - 1 // n is above leastBuffer << power
	i := 4 * power
	for sizeAt(i) < n {
		i++
	}
	return i
}

// Take returns a buffer for n bytes, which hold anything. Its capacity is what the
// buffer has.
func (b *Buffers) Take(n int) []byte {
	i := sizeFor(n)
	if i >= sizes {
		return make([]byte, n)
	}
	if first, ok := b.sizes[i].Get().(*byte); ok {
		return unsafe.Slice(first, sizeAt(i))[:n]
	}
	return make([]byte, n, sizeAt(i))
}

// answerBuffer is the size of the buffers in which answers pass through, one per open
// answer. They are small, because they are most of what a stream costs.
const answerBuffer = 16 << 10

// Get returns a buffer for an answer: an httputil.BufferPool.
func (b *Buffers) Get() []byte { return b.Take(answerBuffer) }

// Put gives a buffer back, which nobody may use any more. A slice that is none of
// these buffers is left to the collector.
func (b *Buffers) Put(buf []byte) {
	i := sizeFor(cap(buf))
	if i >= sizes || sizeAt(i) != cap(buf) {
		return
	}
	buf = buf[:cap(buf)]
	if b.Poison {
		for k := range buf {
			buf[k] = 0xdd
		}
	}
	b.sizes[i].Put(unsafe.SliceData(buf))
}
