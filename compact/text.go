package compact

// A Text is what a model reads. It may be held in the form in which it came, for
// example the inside of a JSON string, and is decoded only when the characters
// are needed.
type Text struct {
	source string
	coding *Coding // nil: source is the text itself
	size   int
}

// A Coding is a form in which texts may be held.
type Coding struct {
	// Decode returns the text of a source. It must be pure.
	Decode func(source string) string
}

// Plain returns the Text of a string.
func Plain(s string) Text { return Text{source: s, size: len(s)} }

// Encoded returns the Text of a source in some coding; size is the length of the
// decoded text in bytes.
func Encoded(source string, size int, by *Coding) Text {
	return Text{source: source, size: size, coding: by}
}

// Len returns the length of the decoded text in bytes.
func (t Text) Len() int { return t.size }

// String returns the decoded text.
func (t Text) String() string {
	if t.coding == nil {
		return t.source
	}
	return t.coding.Decode(t.source)
}

// Source returns the text in the form in which it is held, and whether that form
// is encoded.
func (t Text) Source() (source string, encoded bool) { return t.source, t.coding != nil }

// Equal reports whether a model would read the same characters.
func (t Text) Equal(u Text) bool {
	return t.size == u.size && (t.source == u.source && t.coding == u.coding || t.String() == u.String())
}
