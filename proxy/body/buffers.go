package body

// answerBuffer is the size of the buffers through which answers pass, one for each
// open answer. They are small, because they are most of what a stream costs.
const answerBuffer = 16 << 10

// Buffers is the httputil.BufferPool of answers. It keeps none: an answer takes seconds.
type Buffers struct{}

// Get returns a buffer.
func (Buffers) Get() []byte { return make([]byte, answerBuffer) }

// Put takes a buffer of Get back.
func (Buffers) Put([]byte) {}
