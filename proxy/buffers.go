package proxy

import "sync"

// copyBuffers are the buffers in which answers pass through, one per open
// answer: small, because that is most of what a stream costs.
type copyBuffers struct{ pool sync.Pool }

const copyBuffer = 16 << 10

// Get gives a buffer.
func (b *copyBuffers) Get() []byte {
	if v, ok := b.pool.Get().(*[copyBuffer]byte); ok {
		return v[:]
	}
	return new([copyBuffer]byte)[:]
}

// Put takes it back.
func (b *copyBuffers) Put(buf []byte) { b.pool.Put((*[copyBuffer]byte)(buf)) }
