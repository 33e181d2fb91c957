package cache

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"
)

// slowSum is sum, by the definition.
func slowSum(k *keys, text string) Sum {
	nh := func(b string) *big.Int {
		word := func(at int) *big.Int {
			n := new(big.Int)
			for i := 7; i >= 0; i-- {
				n.Lsh(n, 8)
				if at+i < len(b) {
					n.Or(n, big.NewInt(int64(b[at+i])))
				}
			}
			return n
		}
		all := new(big.Int)
		add := func(at, key int) {
			pair := new(big.Int).SetInt64(1)
			for i := range 2 {
				n := new(big.Int).Add(word(at+8*i), new(big.Int).SetUint64(k.words[key+i]))
				pair.Mul(pair, n.Mod(n, new(big.Int).Lsh(big.NewInt(1), 64)))
			}
			all.Add(all, pair)
		}
		if len(b) < 16 {
			add(0, 0)
		}
		for at := 0; len(b) >= 16 && at < len(b); at += 16 {
			add(min(at, len(b)-16), at/8)
		}
		return all.Mod(all, new(big.Int).Lsh(big.NewInt(1), 128))
	}
	low := new(big.Int).Lsh(big.NewInt(1), 64)
	s := Sum{Size: len(text)}
	if len(text) <= blockSize {
		n := nh(text)
		s.Hash = [2]uint64{new(big.Int).Rsh(n, 64).Uint64(), new(big.Int).Mod(n, low).Uint64()}
		return s
	}
	for i, at := range k.points {
		h, sixty := new(big.Int), new(big.Int).Lsh(big.NewInt(1), 60)
		for from := 0; from < len(text); from += blockSize {
			n := nh(text[from:min(from+blockSize, len(text))])
			for range 3 {
				h.Add(h, new(big.Int).Mod(n, sixty))
				h.Mul(h, new(big.Int).SetUint64(at))
				h.Mod(h, big.NewInt(prime))
				n.Rsh(n, 60)
			}
		}
		s.Hash[i] = h.Uint64()
	}
	return s
}

func TestSumIsWhatItIsDefinedToBe(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	usual := newKeys()
	high := *usual // numbers as large as they can be
	for i := range high.words {
		high.words[i] = ^uint64(0) - uint64(i)
	}
	high.points = [2]uint64{prime - 1, prime - 2}
	sizes := []int{blockSize - 1, blockSize, blockSize + 1, blockSize + 15, blockSize + 16, 3 * blockSize, 10_000}
	for n := range 150 {
		sizes = append(sizes, n)
	}
	for _, n := range sizes {
		text := make([]byte, n)
		for i := range text {
			text[i] = byte(chance.Uint32())
		}
		for name, k := range map[string]*keys{"random": usual, "high": &high} {
			if got, want := k.sum(string(text)), slowSum(k, string(text)); got != want {
				t.Fatalf("%s keys, %d bytes: %v, want %v", name, n, got, want)
			}
		}
	}
}

// TestEveryByteCounts, wherever it is.
func TestEveryByteCounts(t *testing.T) {
	k := newKeys()
	for _, n := range []int{1, 15, 16, 17, 31, 63, 64, 65, 100, blockSize, blockSize + 1, 2*blockSize + 7} {
		text := make([]byte, n)
		was := k.sum(string(text))
		for i := range text {
			text[i] = 1
			if k.sum(string(text)).Hash == was.Hash {
				t.Errorf("byte %d of %d does not count", i, n)
			}
			text[i] = 0
		}
	}
}

func BenchmarkSum(b *testing.B) {
	k := newKeys()
	for _, n := range []int{60, 300, 4 << 10, 100_000} {
		text := string(make([]byte, n))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				k.sum(text)
			}
		})
	}
}
