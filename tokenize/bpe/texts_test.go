package bpe

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
)

// The texts that the encodings are compared on, with the slow reference by every test run and with OpenAI's own
// code by the oracle. All of them are made by rule, so that they are the same everywhere.

// scriptTexts are samples of many scripts, whole and cut at every place.
func scriptTexts(yield func(string) bool) {
	for _, s := range scriptSamples {
		for i := range len(s) + 1 {
			if !yield(s[:i]) || !yield(s[i:]) {
				return
			}
		}
	}
}

// codePointTexts has one text for every code point of the first two planes, for the borders of every class and
// for some of the other code points, in the places where its class matters.
func codePointTexts(yield func(string) bool) {
	one := func(cp int) bool {
		if 0xD800 <= cp && cp < 0xE000 {
			return true
		}
		c := string(rune(cp))
		return yield(strings.ReplaceAll("x a* A*b A*B *a1*2 !*! *\n *\t*'s*'*s \n*\n* *  *x 123*4 **a **A **** *\u0301*", "*", c))
	}
	for cp := range 0x20000 {
		if !one(cp) {
			return
		}
	}
	for cp := 0x20000; cp <= 0x10FFFF; cp += 997 {
		if !one(cp) {
			return
		}
	}
	for cp := 0x20000; cp <= 0x10FFFF; cp++ {
		if classes[cp] != classes[cp-1] && (!one(cp-1) || !one(cp)) {
			return
		}
	}
}

// runUnits are what runs are made of.
var runUnits = []string{" ", "\n", "\r\n", "\t", "0", "7", "'", "a", "A", "aA", "-", "=", "/", ".", "!/\n", " \n", "\n ", "\t ", "\u00a0", " \u3000", "é", "中", "的", "😀", "\u0301", "'s", "\x7f", "\x00", "的 "}

// runTexts are runs of one or two characters, of every length up to 40 and some
// greater ones, behind and before other things, at every alignment.
func runTexts(yield func(string) bool) {
	for _, u := range runUnits {
		for n := 1; n <= 257; n++ {
			if n > 40 && n%16 > 1 && n%16 < 15 {
				continue
			}
			run := strings.Repeat(u, n)
			for _, around := range []string{"*", "x*", "*x", "x*x", " *!", "\n*\n", "1*2", "中*文", "it*s"} {
				for align := range 8 {
					if n > 40 && align > 0 {
						break
					}
					if !yield("abcdefg"[:min(align, 7)] + "." + strings.Replace(around, "*", run, 1)) {
						return
					}
				}
			}
		}
	}
}

// tokenTexts are all tokens of both vocabularies that are text, alone and in pairs
// and triples: what the merging of short pieces is made of.
func tokenTexts(yield func(string) bool) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, v := range []*vocab{O200k().vocab, Cl100k().vocab} {
		for t := range uint32(v.len()) {
			text := string(v.token(t))
			for range 2 {
				if !yield(text) {
					return
				}
				text += string(v.token(uint32(r.IntN(v.len()))))
			}
		}
	}
}

// blockTexts are long enough to be cut in blocks: mixes of ASCII and of characters of two bytes of every class.
func blockTexts(yield func(string) bool) {
	r := rand.New(rand.NewPCG(12, 12))
	parts := []string{
		"a", "b", "the", "S", "XY", "Word", "é", "ß", "д", "É", "Д", "ǅ", "ʰ", "ª", "ל", "ع", "\u0301", "ſ",
		"'", "'s", "'S", "'ſ", "'ll", "'Re", ".", "!", "/", "//", "\"", "§", "€", "\u00ad",
		" ", "  ", " ", " ", "\n", "\n\n", "\r\n", "\t", "\v", "\f", "\u00a0", "\u0085", "1", "234", "²", "٣", "\x1f", "\x7f", "的",
	}
	for range 20_000 {
		few := 2 + r.IntN(len(parts)-1)
		if r.IntN(2) == 0 {
			few = 2 + r.IntN(8)
		}
		first := r.IntN(len(parts))
		var b strings.Builder
		for size := 64 + r.IntN(200); b.Len() < size; {
			b.WriteString(parts[(first+r.IntN(few)*13)%len(parts)])
			if r.IntN(3) == 0 {
				b.WriteByte("abcdefgh"[r.IntN(8)])
			}
		}
		if !yield(b.String()) {
			return
		}
	}
}

// longWordTexts are pieces of up to some thousand bytes with nothing to cut at.
func longWordTexts(yield func(string) bool) {
	r := rand.New(rand.NewPCG(5, 5))
	v := O200k().vocab
	for i := range 1500 {
		var b strings.Builder
		size := 100 + r.IntN(2900)
		letters := 1 + r.IntN(26)
		var some []string
		for range 1 + r.IntN(8) {
			some = append(some, strings.TrimSpace(string(v.token(uint32(r.IntN(v.len()))))))
		}
		for b.Len() < size {
			switch i % 6 {
			case 0:
				b.WriteByte(byte('a' + r.IntN(letters)))
			case 1:
				b.WriteString(some[r.IntN(len(some))])
			case 2:
				b.WriteRune(rune(0x4E00 + r.IntN(64*letters)))
			case 3:
				b.WriteRune(rune(0x1F300 + r.IntN(16*letters)))
			case 4:
				b.WriteString([]string{" ", "\t", "\u3000", "\n"}[r.IntN(1+letters%4)])
			case 5:
				b.WriteByte("-=*#_~.!/"[r.IntN(1+letters%9)])
			}
		}
		if !yield(b.String()) {
			return
		}
	}
}

// brokenTexts are bytes that are not UTF-8: random ones, and real text with bytes
// lost, changed and added.
func brokenTexts(yield func(string) bool) {
	r := rand.New(rand.NewPCG(6, 6))
	leads := []byte{0x7F, 0x80, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF3, 0xF4, 0xF5, 0xFF, 'a', ' '}
	for range 50_000 {
		b := make([]byte, r.IntN(12))
		for i := range b {
			b[i] = leads[r.IntN(len(leads))]
		}
		if !yield(string(b)) {
			return
		}
	}
	for range 20_000 {
		s := scriptSamples[r.IntN(len(scriptSamples))]
		b := []byte(s[r.IntN(len(s)):])
		for range 1 + r.IntN(4) {
			switch at := r.IntN(len(b) + 1); {
			case at == len(b):
			case r.IntN(2) == 0:
				b = slices.Delete(b, at, at+1)
			default:
				b[at] = byte(r.IntN(256))
			}
		}
		if !yield(string(b)) {
			return
		}
	}
}

// atoms are what fuzzed texts are made of: everything that any rule asks about.
var atoms = []string{
	"a", "b", "s", "t", "re", "ll", "A", "B", "S", "LL", "the", " the", "Hello", "x1", "é", "É", "ß", "ſ", "İ", "K",
	"'", "'s", "'S", "'t", "'re", "'VE", "'m", "'ll", "'lL", "'d", "'ſ", "’s", "''", "\"", "`",
	" ", "  ", "   ", "        ", "\n", "\n\n", "\r\n", "\r", "\t", "\t\t", "\v", "\f", "\u0085", "\u00a0", "\u2028", "\u3000", "\ufeff", "\u200b", "\u1680", "\x1c", "\x1f",
	"0", "12", "345", "6789", "٣", "½", "Ⅻ", "²", "〇", "𝟘", "१",
	"!", "?", ".", ",", "/", "//", "\\", "-", "--", "_", "{", "}", "(", ")", "();", "<|endoftext|>", "&&", "=>", "…", "—", "€", "“",
	"\x00", "\x01", "\x1b[0m", "\x7f", "\ufffd", "\u00ad",
	"\u0301", "\u0308", "e\u0301", "\u20dd", "\ufe0f", "\u200d", "् ", "ा",
	"中", "文", "的", "一个", "我们", "が", "の", "カ", "ー", "한", "국어", "д", "Д", "привет", "ل", "ال", "א", "ก", "ไท", "अ", "नमस्ते", "ა", "Ꭰ", "ꭰ", "Ა",
	"ʰ", "ǅ", "ª", "ⅷ", "Ⓐ", "ⓐ", "😀", "👩‍👩‍👧", "🇩🇪", "🏽", "𝒜", "𝒷", "𠀀", "𐐀", "𐐨", "\U000105d5", "\U000e0061", "\U0010ffff",
}

// fuzzTexts are random mixes of atoms, about so many bytes in all.
func fuzzTexts(size int) iter.Seq[string] {
	return func(yield func(string) bool) {
		r := rand.New(rand.NewPCG(7, 7))
		for left := size; left > 0; {
			var b strings.Builder
			few := 1 + r.IntN(len(atoms)) // often only a few different ones
			if r.IntN(2) == 0 {
				few = 1 + r.IntN(6)
			}
			first := r.IntN(len(atoms))
			for range 1 + r.IntN(40) {
				b.WriteString(atoms[(first+r.IntN(few)*37)%len(atoms)])
			}
			left -= b.Len()
			if !yield(b.String()) {
				return
			}
		}
	}
}
