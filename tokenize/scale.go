package tokenize

import (
	"math/bits"
	"unicode/utf8"
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

// mixOf reads a text once. Bytes that are no UTF-8 count as other.
func mixOf(text []byte) (m mix) {
	run := 0 // digits directly before
	for i, size := 0, 0; i < len(text); i += size {
		size = 1
		b := text[i]
		if isASCIIDigit(b) {
			m.digits++
			if run == 0 && i > 1 && isBlank(text[i-1]) && isBlank(text[i-2]) {
				m.gaps++
			}
			if run%3 == 0 {
				m.groups++
			}
			run++
			continue
		}
		run = 0
		switch {
		case isASCIILetter(b):
			if i > 1 && isSign(text[i-1]) && isWord(text[i-2]) {
				m.signs++
			}
		case b >= utf8.RuneSelf:
			var r rune
			switch r, size = utf8.DecodeRune(text[i:]); {
			case 0xC0 <= r && r < 0x2C0: // Latin letters with accents
				m.accents += size
			case 0x500 <= r && r < 0x2000: // Armenian to N'Ko, India to Mongolia; Vietnamese, too
				m.rare += size
			default:
				m.other += size
			}
		}
	}
	return m
}

func isBlank(b byte) bool { return b == ' ' || b == '\t' }

// isWord reports whether a byte is an ASCII letter or digit.
func isWord(b byte) bool { return isASCIIDigit(b) || isASCIILetter(b) }

// isSign reports whether a byte is an ASCII sign, but for the one inside of names.
func isSign(b byte) bool { return '!' <= b && b <= '~' && b != '_' && !isWord(b) }
