package compact

// Text is a run of characters that a model reads. It may be held in the form
// in which it came (the inside of a JSON string, say) and is decoded only when
// somebody asks for the characters: a request that needs nothing never pays.
type Text struct {
	source string
	coding *Coding // nil: source is the text itself
	size   int
}

// Coding is a form in which texts may be held. Both funcs must be pure, and
// agree.
type Coding struct {
	// Decode gives the text of a source.
	Decode func(source string) string
	// Append appends it to dst, for those who need it for a moment only.
	Append func(dst []byte, source string) []byte
}

// Plain is the Text of a string as it is.
func Plain(s string) Text { return Text{source: s, size: len(s)} }

// Encoded is the Text that a source in some coding means; size is its length in
// bytes once decoded.
func Encoded(source string, size int, by *Coding) Text {
	return Text{source: source, size: size, coding: by}
}

// Len is the length in bytes of the decoded text.
func (t Text) Len() int { return t.size }

// String gives the decoded text.
func (t Text) String() string {
	if t.coding == nil {
		return t.source
	}
	return t.coding.Decode(t.source)
}

// AppendTo appends the decoded text to dst.
func (t Text) AppendTo(dst []byte) []byte {
	if t.coding == nil {
		return append(dst, t.source...)
	}
	return t.coding.Append(dst, t.source)
}

// Source gives the text in the form in which it is held, and whether that form
// is encoded.
func (t Text) Source() (source string, encoded bool) { return t.source, t.coding != nil }

// Equal tells whether a model would read the same characters.
func (t Text) Equal(u Text) bool {
	if t.size != u.size {
		return false
	}
	if t.source == u.source && t.coding == u.coding {
		return true
	}
	return t.String() == u.String()
}
