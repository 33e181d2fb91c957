// Byte pair encoding of a piece: the two neighbours that merge into the token of the
// lowest rank become one, the leftmost of equals first, until no two neighbours merge.
// It takes time in proportion to the length of the piece, whatever that is.
//
// A client may send one word of four megabytes, so the plain method, which looks at
// all pairs for each merge, is used on short windows that overlap. The tokens of the
// windows are joined by a fact published with GitHub's bpe crate
// (github.com/github/rust-gems, crates/bpe, README, corollaries I to III):
//
//   - a sequence of tokens is called valid when byte pair encoding of its text
//     returns it; every text has exactly one;
//   - every part of a valid sequence is valid;
//   - two valid sequences, of which the first ends with the very token (at the very
//     place) that the second starts with, make one valid sequence.
//
// So: merge a window; pick a token t of it that starts well before its end; merge the
// window that starts where t starts; if its first token is t, all before t is final,
// and the second window takes the place of the first. If it is not t, the end of the
// first window was too near to decide: it is made again, twice as long, and so are
// all that follow. If that changes its own first token, all windows are made again.
// A window that reaches the end of the piece is final as a whole.
//
// A window of n bytes costs n² steps at most and yields about seven eighths of it. No
// text is known for which many windows are too short.

package bpe

import (
	"slices"
	"unicode/utf8"
)

// firstWindow is the length of a window to begin with, in bytes: longer than nearly all
// tokens by so much that it is long enough. Runs of one sign have longer ones.
const firstWindow = 64

// count returns the number of tokens of a piece.
func (m *merger) count(e *Encoding, piece []byte) (n int) {
	for size := firstWindow; ; size *= 2 {
		n = 0
		if m.merge(e, piece, size, func(tokens []uint32) { n += len(tokens) }) {
			return n
		}
	}
}

// merge calls found with the tokens of a piece, which it finds by windows of so many
// bytes, or more where they are too short. It returns false if it cannot tell where.
func (m *merger) merge(e *Encoding, piece []byte, size int, found func([]uint32)) bool {
	m.kept = m.kept[:0]
	before, was := piece, uint32(noToken) // the window that the kept tokens are of, and its first token
	for link := was; ; {
		end := min(size, len(piece))
		for end < len(piece) && !utf8.RuneStart(piece[end]) {
			end++
		}
		m.mergeWindow(e, piece[:end])
		if link != noToken && m.tokens[0] != link {
			if len(m.kept) == 0 {
				return false
			}
			piece, link, m.kept, size = before, was, m.kept[:0], 2*size
			continue
		}
		found(m.kept)
		if end == len(piece) {
			found(m.tokens)
			return true
		}
		before, was = piece, link
		// The last token that starts in the first seven eighths of the window.
		last, at := 0, 0
		for at+len(e.vocab.token(m.tokens[last])) <= size*7/8 {
			at += len(e.vocab.token(m.tokens[last]))
			last++
		}
		m.kept = append(m.kept[:0], m.tokens[:last]...)
		if piece = piece[at:]; last > 0 {
			link = m.tokens[last]
		} else {
			size *= 2
		}
	}
}

// A merger merges stretches of text one after the other.
type merger struct {
	tokens []uint32 // of the text that was merged last: its bytes at first
	joined []uint32 // for each token but the last: what it and the next one merge into
	kept   []uint32 // of the window before, up to where this one begins
}

// mergeWindow sets m.tokens to those of a text.
func (m *merger) mergeWindow(e *Encoding, text []byte) {
	tokens, joined := m.tokens[:0], m.joined[:0]
	for i, c := range text {
		tokens = append(tokens, e.byteToken[c])
		if i > 0 {
			joined = append(joined, e.vocab.join(tokens[i-1], tokens[i]))
		}
	}
	for {
		at, lowest := 0, uint32(noToken)
		for i, token := range joined {
			if token < lowest {
				at, lowest = i, token
			}
		}
		if lowest == noToken {
			break
		}
		// A merged token has a higher rank than its parts, so all equals come next.
		for ; at < len(joined); at++ {
			if joined[at] != lowest {
				continue
			}
			tokens[at] = lowest
			tokens, joined = slices.Delete(tokens, at+1, at+2), slices.Delete(joined, at, at+1)
			if at > 0 {
				joined[at-1] = e.vocab.join(tokens[at-1], lowest)
			}
			if at < len(joined) {
				joined[at] = e.vocab.join(lowest, tokens[at+1])
			}
		}
	}
	m.tokens, m.joined = tokens, joined
}
