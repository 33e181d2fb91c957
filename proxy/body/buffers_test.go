package body

import "testing"

func TestABufferHasItsSize(t *testing.T) {
	var b Buffers
	largest := sizeAt(sizes - 1)
	for _, n := range []int{0, 1, leastBuffer, leastBuffer + 1, 1279, 1280, 1281, 16 << 10, 40_000, 1 << 20, 1<<20 + 1, largest, largest + 1} {
		buf := b.Take(n)
		if len(buf) != n {
			t.Errorf("%d bytes of %d", len(buf), n)
		}
		if most := max(leastBuffer, n+n/4+1); cap(buf) > most {
			t.Errorf("%d bytes for %d", cap(buf), n)
		}
		b.Put(buf)
	}
	for i := 1; i < sizes; i++ {
		if a := sizeAt(i); sizeFor(a) != i || sizeFor(a-1) != i || sizeFor(a+1) != i+1 || sizeFor(sizeAt(i-1)+1) != i {
			t.Errorf("size %d: %d", i, a)
		}
	}
}

func TestOnlyBuffersAreTakenBack(t *testing.T) {
	b := Buffers{Poison: true}
	for _, size := range []int{1000, 1025, 3000} {
		other := make([]byte, size)
		b.Put(other)
		if other[0] != 0 {
			t.Errorf("a slice of %d bytes was taken for a buffer", size)
		}
	}
	own := b.Take(2000)
	own[0] = 1
	b.Put(own)
	if own[0] != 0xdd || own[1999] != 0xdd {
		t.Error("what was given back is not poisoned")
	}
}
