// The pieces of cl100k_base.
//
// The pattern, one alternative per line; the first that matches wins:
//
//	(?i:'s|'t|'re|'ve|'m|'ll|'d)
//	[^\r\n\p{L}\p{N}]?\p{L}+
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+

package bpe

// nextCl100k returns the end of the piece that starts at text[p], p if there is no
// UTF-8.
func nextCl100k(text []byte, p int) int {
	if n := contraction(text, p); n > 0 {
		return p + n
	}
	k, size := classAt(text, p)
	q := p
	switch {
	case plainLetter(k):
	case k == classNumber:
		return numbers(text, p)
	case isNewline(text[p]):
		return whiteSpace(text, p)
	case k == classBroken:
		return p
	default:
		q += size
		var next class
		if q < len(text) {
			next, _ = classAt(text, q)
		}
		if plainLetter(next) {
			break
		}
		if k == classSpace && (text[p] != ' ' || q == len(text) || next != classOther && next != classMark) {
			return whiteSpace(text, p)
		}
		q = signs(text, q)
		for q < len(text) && isNewline(text[q]) {
			q++
		}
		return q
	}
	for {
		q = run(text, q, 'a', 'z', 0x20)
		if q == len(text) || text[q] < 0x80 {
			return q
		}
		q = caseless(text, q)
		for q < len(text) && text[q] >= 0x80 {
			k, size := classAt(text, q)
			if !plainLetter(k) {
				return q
			}
			q += size
		}
	}
}

// plainLetter reports whether a class is \p{L}: a letter of any case, not a mark.
func plainLetter(k class) bool { return k&letterOrMark != 0 && k&isMark == 0 }
