package learn

import (
	"cmp"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cuts names the conversations whose thinking was taken out because the upstream
// had bound it to another one: each by a part of a keyed hash of its messages up
// to the last that lost some, with the minute when it is forgotten. It is a text,
// oldest first, so that facts can be compared and copied.
type Cuts string

const (
	mostCuts = 256
	cutLife  = 24 * time.Hour
)

// CutKey names one conversation.
type CutKey [14]byte

// Keys returns the conversations that are named.
func (c Cuts) Keys() map[CutKey]bool {
	all := map[CutKey]bool{}
	for key := range c.read() {
		all[key] = true
	}
	return all
}

// read returns the names, each with the minute when it is forgotten. What nobody
// could have written is left out.
func (c Cuts) read() map[CutKey]int64 {
	all := map[CutKey]int64{}
	for _, entry := range strings.Fields(string(c[:min(len(c), 64*mostCuts)])) {
		hash, minute, _ := strings.Cut(entry, "@")
		until, err := strconv.ParseInt(minute, 10, 64)
		if raw, wrong := hex.DecodeString(hash); wrong == nil && err == nil && len(raw) == len(CutKey{}) {
			all[CutKey(raw)] = max(until, all[CutKey(raw)])
		}
	}
	return all
}

// written returns the newest of some names as a text.
func written(all map[CutKey]int64) Cuts {
	keys := slices.SortedFunc(maps.Keys(all), func(a, b CutKey) int {
		return cmp.Or(cmp.Compare(all[a], all[b]), slices.Compare(a[:], b[:]))
	})
	var text strings.Builder
	for _, key := range keys[max(0, len(keys)-mostCuts):] {
		text.WriteString(hex.EncodeToString(key[:]) + "@" + strconv.FormatInt(all[key], 10) + " ")
	}
	return Cuts(text.String())
}

// with returns c and one more conversation.
func (c Cuts) with(key CutKey, now time.Time) Cuts {
	all := c.read()
	all[key] = now.Add(cutLife).Unix() / 60
	return written(all)
}

// joined returns the newest of both. The order does not matter.
func (c Cuts) joined(o Cuts) Cuts {
	if o == "" || c == o {
		return c
	}
	all := c.read()
	for key, until := range o.read() {
		all[key] = max(until, all[key])
	}
	return written(all)
}

// at returns c without what has expired, which comes first. It is called for each
// request.
func (c Cuts) at(now time.Time) Cuts {
	for c != "" {
		first, rest, _ := strings.Cut(string(c), " ")
		_, minute, _ := strings.Cut(first, "@")
		if until, err := strconv.ParseInt(minute, 10, 64); err == nil && now.Before(time.Unix(until*60, 0)) {
			break
		}
		c = Cuts(rest)
	}
	return c
}

// checked returns of a stored value what could have been written by now and has not
// expired.
func (c Cuts) checked(now time.Time) Cuts {
	if c == "" {
		return c
	}
	all := c.read()
	maps.DeleteFunc(all, func(_ CutKey, until int64) bool {
		t := time.Unix(until*60, 0)
		return !now.Before(t) || t.After(now.Add(cutLife+clockSkew))
	})
	return written(all)
}
