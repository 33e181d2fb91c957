package body

import "sync"

// Buffers are the buffers in which answers pass through, one per open answer. They
// are small, because they are most of what a stream costs.
type Buffers struct{ pool sync.Pool }

const bufferSize = 16 << 10

// Get returns a buffer.
func (b *Buffers) Get() []byte {
	if v, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return v[:]
	}
	return new([bufferSize]byte)[:]
}

// Put takes a buffer back.
func (b *Buffers) Put(buf []byte) { b.pool.Put((*[bufferSize]byte)(buf)) }
