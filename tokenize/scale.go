package tokenize

import (
	"encoding/binary"
	"math/bits"
)

// scale makes the count of o200k_base into that of a tokenizer that is not at hand. Vocabularies of one size cut
// English, code and JSON much alike; they part where scripts and digits are concerned. So the factor depends on the
// text: each of its bytes has a class, and the factor is the mean over the bytes.
type scale struct {
	plain int // percent, for ASCII
	other int // percent, for the rest of Latin, for Greek, Cyrillic, Chinese, Japanese and Korean
	rare  int // percent, for every other script
	// digits: each digit is a token of its own (Qwen, Gemini, Gemma, Llama 2, Mistral), where o200k_base takes three.
	digits bool
}

// of is the cost of a text of n tokens of o200k_base, rounded up. No byte becomes two tokens.
func (s *scale) of(n int, text []byte) int {
	m := mixOf(text)
	size := len(text)
	rare := min(m.rare, size)
	other := min(m.other+accentReach*m.accents, size-rare)
	weight := rare*s.rare + other*s.other + (size-rare-other)*s.plain
	hi, lo := bits.Mul64(uint64(n), uint64(weight))
	quotient, rest := bits.Div64(hi, lo, 100*uint64(size))
	cost := int(quotient)
	if rest > 0 {
		cost++
	}
	if s.digits {
		// A run of digits is one token of o200k_base for each three of them, begun ones included.
		cost += m.digits - max(m.runs, ceilDiv(m.digits, 3))
	}
	return min(cost, size)
}

// mix is what a text is made of, in bytes. What no field counts is ASCII.
type mix struct {
	accents int // of letters with accents, two bytes each
	other   int
	rare    int
	digits  int // ASCII digits
	runs    int // how many runs they form
}

// accentReach is how many bytes around each byte of a letter with an accent are taken for the same language. Most
// letters of such a language are ASCII, but English and code have hardly any of these.
const accentReach = 16

// mixOf reads a text once, eight bytes at a time where they are ASCII; it costs a twentieth of counting.
func mixOf(text []byte) (m mix) {
	var before uint64 // 1 where the byte before was a digit
	i := 0
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		if w&tops != 0 {
			for _, b := range text[i : i+8] {
				before = m.add(b, before)
			}
			continue
		}
		digit := between(w, '0', '9'+1) >> 7
		m.digits += bits.OnesCount64(digit)
		m.runs += bits.OnesCount64(digit &^ (digit<<8 | before))
		before = digit >> 56
	}
	for _, b := range text[i:] {
		before = m.add(b, before)
	}
	return m
}

// add counts one byte. Of a longer character the first byte tells the script and is counted for all of it.
func (m *mix) add(b byte, before uint64) (digit uint64) {
	switch k := leads[b]; k {
	case plainByte, tailByte:
	case digitByte:
		m.digits++
		m.runs += int(1 - before)
		return 1
	case accentByte:
		m.accents += 2
	case otherByte:
		m.other += sizeOfLead(b)
	case rareByte:
		m.rare += sizeOfLead(b)
	}
	return 0
}

// sizeOfLead is how many bytes a character has that begins with b, 0xc2 or above.
func sizeOfLead(b byte) int {
	switch {
	case b < 0xe0:
		return 2
	case b < 0xf0:
		return 3
	}
	return 4
}

const (
	plainByte = iota
	digitByte
	tailByte // the second byte of a character, or a later one
	accentByte
	otherByte
	rareByte
)

// leads says of which class a byte is. Scripts are told by their first byte, roughly: one such byte stands for 64
// characters, or for 4,096.
var leads = func() (t [256]uint8) {
	set := func(from, to byte, class uint8) {
		for b := int(from); b <= int(to); b++ {
			t[b] = class
		}
	}
	set('0', '9', digitByte)
	set(0x80, 0xc1, tailByte)
	set(0xc2, 0xc2, otherByte)  // Latin-1 signs
	set(0xc3, 0xca, accentByte) // Latin letters with accents
	set(0xcb, 0xd3, otherByte)  // modifiers, Greek, Cyrillic
	set(0xd4, 0xdf, rareByte)   // Armenian, Hebrew, Arabic, Syriac, Thaana, N'Ko
	set(0xe0, 0xe1, rareByte)   // India, Thailand, Tibet, Burma, Georgia, Ethiopia, Khmer, Mongolia; Vietnamese, too
	set(0xe2, 0xe9, otherByte)  // punctuation, signs, boxes; kana, Chinese
	set(0xea, 0xef, otherByte)  // Korean, compatibility forms, full width
	set(0xf0, 0xff, otherByte)  // emoji
	return t
}()
