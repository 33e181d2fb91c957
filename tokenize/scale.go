package tokenize

import "math/bits"

// scale makes the count of o200k_base into that of a tokenizer that is not at hand. Vocabularies of one size cut
// English, code and JSON much alike; they part where scripts and digits are concerned. So the factor depends on the
// text: each of its bytes has a class, and the factor is the mean over the bytes.
type scale struct {
	plain int // percent, for ASCII
	other int // percent, for the rest of Latin, for Greek, Cyrillic, Chinese, Japanese and Korean
	rare  int // percent, for every other script
	// digits: each digit is a token of its own (Qwen, Gemini, Gemma, Llama 2, Mistral), where o200k_base takes three.
	digits bool
	// signs: a sign between two words is a token of its own (Gemma, Llama 2), where o200k_base has "/src" and ".go". That
	// costs three quarters of a token, in 1,100 texts of agents.
	signs bool
	// gaps: the blanks before a number are one token (DeepSeek), where o200k_base leaves the last one over. Lists of
	// files and lines with numbers have a tenth of their tokens there.
	gaps bool
}

// of returns the cost of a text of n tokens of o200k_base, rounded up. No byte becomes two tokens.
func (s *scale) of(n int, text []byte) int {
	m := mixOf(text)
	size := len(text)
	rare := min(m.rare, size)
	other := min(m.other+accentReach*m.accents, size-rare)
	weight := uint64(rare)*uint64(s.rare) + uint64(other)*uint64(s.other) + uint64(size-rare-other)*uint64(s.plain)
	hi, lo := bits.Mul64(uint64(n), weight)
	quotient, rest := bits.Div64(hi, lo, 100*uint64(size))
	cost := int(quotient)
	if rest > 0 {
		cost++
	}
	if s.digits {
		cost += m.digits - m.groups
	}
	if s.signs {
		cost += m.signs * 3 / 4
	}
	if s.gaps {
		cost -= m.gaps
	}
	return min(cost, size)
}

// mix counts the bytes of a text by class. Bytes that no field counts are ASCII.
type mix struct {
	accents int // of letters with accents, two bytes each
	other   int
	rare    int
	digits  int // ASCII digits
	groups  int // of up to three of them: tokens of o200k_base
	signs   int // ASCII signs between a letter or digit and a letter
	gaps    int // of two or more blanks before a digit
}

// accentReach is how many bytes around each byte of a letter with an accent are taken for the same language. Most
// letters of such a language are ASCII, but English and code have hardly any of these.
const accentReach = 16

// mixOf reads a text once.
func mixOf(text []byte) (m mix) {
	var sizes [rareByte + 1]int // of the characters of each class
	run := 0                    // digits directly before
	for i := 0; i < len(text); {
		b := text[i]
		if !isASCIIDigit(b) {
			if i > 1 && isASCIILetter(b) && isSign(text[i-1]) && isWord(text[i-2]) {
				m.signs++
			}
			lead := leads[b]
			sizes[lead.class] += lead.size
			i += lead.size
			run = 0
			continue
		}
		m.digits++
		if run == 0 && i > 1 && isBlank(text[i-1]) && isBlank(text[i-2]) {
			m.gaps++
		}
		if run%3 == 0 {
			m.groups++
		}
		run++
		i++
	}
	m.accents, m.other, m.rare = sizes[accentByte], sizes[otherByte], sizes[rareByte]
	return m
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// isWord reports whether a byte is an ASCII letter or digit.
func isWord(b byte) bool { return isASCIIDigit(b) || isASCIILetter(b) }

// isSign reports whether a byte is an ASCII sign, but for the one inside of names.
func isSign(b byte) bool { return '!' <= b && b <= '~' && b != '_' && !isWord(b) }

const (
	plainByte = iota
	accentByte
	otherByte
	rareByte
)

// leads has the class of a character and its length in bytes, by its first byte. That tells scripts apart roughly: one
// such byte begins 64 characters, or 4,096. Bytes that begin no character count as one.
var leads = func() (t [256]struct{ class, size int }) {
	set := func(from, to byte, class, size int) {
		for b := int(from); b <= int(to); b++ {
			t[b].class, t[b].size = class, size
		}
	}
	set(0x00, 0xc1, plainByte, 1)
	set(0xc2, 0xc2, otherByte, 2)  // Latin-1 signs
	set(0xc3, 0xca, accentByte, 2) // Latin letters with accents
	set(0xcb, 0xd3, otherByte, 2)  // modifiers, Greek, Cyrillic
	set(0xd4, 0xdf, rareByte, 2)   // Armenian, Hebrew, Arabic, Syriac, Thaana, N'Ko
	set(0xe0, 0xe1, rareByte, 3)   // India, Thailand, Tibet, Burma, Georgia, Ethiopia, Khmer, Mongolia; Vietnamese, too
	set(0xe2, 0xe9, otherByte, 3)  // punctuation, signs, boxes; kana, Chinese
	set(0xea, 0xef, otherByte, 3)  // Korean, compatibility forms, full width
	set(0xf0, 0xff, otherByte, 4)  // emoji
	return t
}()
