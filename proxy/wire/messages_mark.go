package wire

import (
	"bytes"
	"strings"
	"unsafe"

	"laconic/compact"
)

// cacheMark is the key of a mark: behind what carries it, the provider's cache ends.
// It is not found within a string, where quotes are escaped.
var cacheMark = []byte(`"cache_control":`)

// carry finds the last block of the messages that left which has a mark of the cache,
// and the end of the fold, which gets the mark: the last text before that block's
// place that no client sent. So there are never more marks than there were. None moves
// to before another, because those of an hour come first, and none into a string.
func (e *encoder) carry(edited []compact.Message) {
	if e.mark, e.bears = nil, nil; e.Wire != Messages.Name() || !bytes.Contains(e.Body, cacheMark) {
		return
	}
	stays := make([]bool, len(e.marks))
	for i := range edited {
		if o := edited[i].Origin; o >= 0 && o < len(stays) {
			stays[o] = true
		}
	}
	left := len(stays) - 1
	for ; left >= 0 && e.mark == nil; left-- {
		if !stays[left] {
			e.mark = e.marked(e.marks[left].elements)
		}
	}
	if e.mark == nil {
		return
	}
	for i := range edited {
		m := &edited[i]
		if m.Origin > left+1 {
			break
		}
		last := len(m.Parts) - 1
		if m.Role == compact.User && last >= 0 && m.Parts[last].Nth == 0 && (m.Origin == compact.Added || m.Shape == compact.Array) {
			e.bears = m
		} else if m.Origin >= 0 && e.marked(e.marks[m.Origin].elements) != nil {
			e.bears = nil
		}
	}
}

// marked returns the last of some elements that has a mark, nil if none has.
func (e *encoder) marked(elements run) []byte {
	for n := elements.to; n > elements.from; n-- {
		x := e.elements[n-1].whole
		if raw := e.Body[x.start:x.end]; bytes.Contains(raw, cacheMark) {
			return raw
		}
	}
	return nil
}

// unmarked returns JSON without the marks of the cache in it, for clients move them
// from turn to turn.
func unmarked(raw string) string {
	const space = " \t\r\n"
	for _, key := range markers {
		quoted := `"` + key + `":` // not within a string, where quotes are escaped
		var kept strings.Builder
		for at := strings.Index(raw, quoted); at >= 0; at = strings.Index(raw, quoted) {
			s := scanner{src: unsafe.Slice(unsafe.StringData(raw), len(raw)), at: at + len(quoted)}
			s.space()
			s.read()
			before, last := strings.CutSuffix(strings.TrimRight(raw[:at], space), ",")
			if raw = strings.TrimLeft(raw[s.at:], space); !last {
				raw = strings.TrimLeft(strings.TrimPrefix(raw, ","), space)
			}
			kept.WriteString(strings.TrimRight(before, space))
		}
		if kept.Len() > 0 {
			raw = kept.String() + raw
		}
	}
	return raw
}
