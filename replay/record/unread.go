package record

import (
	"fmt"
	"path/filepath"
)

// Unread is a file, or a line or element of one, that could not be read.
type Unread struct {
	File string `json:"file"`
	// Line counts from 1. It is 0 if the fault is that of the whole file, or of
	// an Element.
	Line int `json:"line,omitempty"`
	// Element counts the entries of a HAR file or the elements of an array
	// from 1.
	Element int    `json:"element,omitempty"`
	Reason  string `json:"reason"`
}

// name returns the place for the ID of a conversation.
func (u Unread) name() string {
	name := filepath.Base(u.File)
	if n := u.Line + u.Element; n > 0 {
		return fmt.Sprintf("%s:%d", name, n)
	}
	return name
}

// String returns the place and the reason, for the user.
func (u Unread) String() string {
	switch {
	case u.Line > 0:
		return fmt.Sprintf("%s:%d: %s", u.File, u.Line, u.Reason)
	case u.Element > 0:
		return fmt.Sprintf("%s: entry %d: %s", u.File, u.Element, u.Reason)
	}
	return u.File + ": " + u.Reason
}
