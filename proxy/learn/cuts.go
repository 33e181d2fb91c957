package learn

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"slices"
	"strings"
	"time"
)

// Cuts names histories whose thinking was taken out because the upstream had
// bound it to another one: each by a part of a keyed hash of its messages up to
// the last that lost some, with the time when it is forgotten. It is a text of
// records of one length, oldest first, so that facts can be compared and copied.
type Cuts string

// A record is a part of a hash and a time in minutes, in base64 without padding.
const (
	cutHash   = 14
	cutRecord = (cutHash + 4) * 4 / 3
	mostCuts  = 256
	cutLife   = 24 * time.Hour
	cutSkew   = time.Hour // the clock of who has written one may be ahead
)

// CutKey names one history.
type CutKey [cutHash]byte

func (c Cuts) len() int { return len(c) / cutRecord }

func (c Cuts) record(i int) Cuts { return c[i*cutRecord : (i+1)*cutRecord] }

// read reads record i; ok is false for what no process has written.
func (c Cuts) read(i int) (key CutKey, until time.Time, ok bool) {
	var raw [cutHash + 4]byte
	if n, err := base64.RawURLEncoding.Decode(raw[:], []byte(c.record(i))); err != nil || n != len(raw) {
		return key, until, false
	}
	copy(key[:], raw[:])
	return key, time.Unix(int64(binary.BigEndian.Uint32(raw[cutHash:]))*60, 0), true
}

// Keys returns the conversations that are named.
func (c Cuts) Keys() map[CutKey]bool {
	all := make(map[CutKey]bool, c.len())
	for i := range c.len() {
		if key, _, ok := c.read(i); ok {
			all[key] = true
		}
	}
	return all
}

// with adds a history.
func (c Cuts) with(key CutKey, now time.Time) Cuts {
	raw := binary.BigEndian.AppendUint32(append([]byte(nil), key[:]...), uint32(now.Add(cutLife).Unix()/60))
	return c.joined(Cuts(base64.RawURLEncoding.EncodeToString(raw)))
}

// joined is the newest of both, each history once. Who joins the same gets the
// same.
func (c Cuts) joined(o Cuts) Cuts {
	if o == "" || c == o {
		return c
	}
	const hash = cutHash * 4 / 3 // all but the bits that a letter shares with the time
	newest := make(map[Cuts]Cuts, c.len()+o.len())
	for both := c + o; both != ""; both = both[cutRecord:] {
		r := both[:cutRecord]
		if known, ok := newest[r[:hash]]; !ok || known.expires(0).Before(r.expires(0)) {
			newest[r[:hash]] = r
		}
	}
	all := slices.SortedFunc(maps.Values(newest), func(a, b Cuts) int {
		return cmp.Or(a.expires(0).Compare(b.expires(0)), cmp.Compare(a, b))
	})
	var text strings.Builder
	for _, r := range all[max(0, len(all)-mostCuts):] {
		text.WriteString(string(r))
	}
	return Cuts(text.String())
}

func (c Cuts) expires(i int) time.Time {
	_, until, _ := c.read(i)
	return until
}

// at is what of it still holds. The oldest come first.
func (c Cuts) at(now time.Time) Cuts {
	for len(c) >= cutRecord && !now.Before(c.expires(0)) {
		c = c[cutRecord:]
	}
	return c
}

// believed keeps what this process could have written.
func (c Cuts) believed(now time.Time) Cuts {
	if len(c)%cutRecord != 0 || c.len() > mostCuts {
		return ""
	}
	last := time.Time{}
	for i := range c.len() {
		_, until, ok := c.read(i)
		if !ok || until.Before(last) || until.After(now.Add(cutLife+cutSkew)) {
			return ""
		}
		last = until
	}
	return c
}
