// The lowest of many numbers, some of which change, for merging long stretches.

package bpe

// minTree is a tree with sixteen branches at each node: levels[0] are the numbers,
// levels[k+1][i] is the lowest of levels[k][16i:16i+16], and the last level is one
// number. A change costs one look at sixteen neighbours per level, without the
// unpredictable branch that a heap has at each step.
type minTree struct{ levels [][]uint64 }

const highest = uint64(noToken) << 32

// reset makes room for n numbers, all of them highest.
func (l *minTree) reset(n int) {
	l.levels = l.levels[:cap(l.levels)]
	for k := 0; ; k++ {
		if k == len(l.levels) {
			l.levels = append(l.levels, nil)
		}
		room := n
		if n > 1 {
			room = (n + 15) &^ 15
		}
		room = max(room, 1)
		if cap(l.levels[k]) < room {
			l.levels[k] = make([]uint64, room)
		}
		level := l.levels[k][:room]
		for i := range level {
			level[i] = highest
		}
		l.levels[k] = level
		if room == 1 {
			l.levels = l.levels[:k+1]
			return
		}
		n = room / 16
	}
}

// fill computes all levels from the first.
func (l *minTree) fill() {
	for k := 1; k < len(l.levels); k++ {
		for i := range l.levels[k-1] {
			if i%16 == 0 {
				l.levels[k][i/16] = min16(l.levels[k-1][i : i+16])
			}
		}
	}
}

// get returns the lowest number.
func (l *minTree) get() uint64 { return l.levels[len(l.levels)-1][0] }

// set changes number i.
func (l *minTree) set(i int, x uint64) {
	l.levels[0][i] = x
	for k := 1; k < len(l.levels); k++ {
		i >>= 4
		low := min16(l.levels[k-1][16*i : 16*i+16])
		if l.levels[k][i] == low {
			return
		}
		l.levels[k][i] = low
	}
}

func min16(x []uint64) uint64 {
	_ = x[15]
	a := min(x[0], x[1], x[2], x[3])
	b := min(x[4], x[5], x[6], x[7])
	c := min(x[8], x[9], x[10], x[11])
	d := min(x[12], x[13], x[14], x[15])
	return min(a, b, c, d)
}
