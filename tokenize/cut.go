package tokenize

import "unicode/utf8"

// Prefix returns the start of a text that has at most n tokens: it ends between
// two tokens of the text and never inside a character. Of a text that is not
// valid UTF-8 it ends before the first bad byte at the latest. Cut a text
// before it is written as JSON, not after, and no escape is cut in two.
func (e *Encoding) Prefix(text string, n int) string {
	if n <= 0 {
		return ""
	}
	// No token is longer than the longest of the vocabulary: what is behind so
	// many bytes cannot be among the first n.
	if n < len(text)/maxTokenBytes {
		text = text[:(n+1)*maxTokenBytes]
	}
	text = text[:validBytes(text)]
	tokens := e.AppendTokens(nil, []byte(text))
	end := 0
	for _, t := range tokens[:min(n, len(tokens))] {
		end += e.vocab.size(t)
	}
	for {
		for end > 0 && end < len(text) && !utf8.RuneStart(text[end]) {
			end--
		}
		// The start alone may be split in another way than within the text.
		if e.CountString(text[:end]) <= n {
			return text[:end]
		}
		end--
	}
}

// validBytes is how many bytes of a text are UTF-8 up to the first that is not.
func validBytes(text string) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && size <= 1 {
			return i
		}
		i += size
	}
	return len(text)
}
