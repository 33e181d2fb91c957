package compact

// Text is a run of characters that a model reads. It may be held in the form
// in which it came (the inside of a JSON string, say) and is decoded only when
// somebody asks for the characters: a request that needs nothing never pays.
type Text struct {
	source string
	decode func(string) string // nil: source is the text itself
	size   int
}

// Plain is the Text of a string as it is.
func Plain(s string) Text { return Text{source: s, size: len(s)} }

// Encoded is the Text that decode makes of source; size is its length in bytes
// once decoded. decode must be a pure function.
func Encoded(source string, size int, decode func(string) string) Text {
	return Text{source: source, size: size, decode: decode}
}

// Len is the length in bytes of the decoded text.
func (t Text) Len() int { return t.size }

// String gives the decoded text.
func (t Text) String() string {
	if t.decode == nil {
		return t.source
	}
	return t.decode(t.source)
}

// Source gives the text in the form in which it is held, and whether that form
// is encoded.
func (t Text) Source() (source string, encoded bool) { return t.source, t.decode != nil }

// Equal tells whether a model would read the same characters.
func (t Text) Equal(u Text) bool {
	if t.size != u.size {
		return false
	}
	if t.source == u.source && (t.decode == nil) == (u.decode == nil) {
		return true
	}
	return t.String() == u.String()
}
