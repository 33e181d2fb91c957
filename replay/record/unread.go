package record

import "fmt"

// Unread is a line or a file that could not be read.
type Unread struct {
	File string `json:"file"`
	// Line counts from 1; 0 where the file is not read by lines, or as a whole.
	Line int `json:"line,omitempty"`
	// Element counts the entries of a HAR file or the elements of an array
	// from 1.
	Element int    `json:"element,omitempty"`
	Reason  string `json:"reason"`
}

// String is the sentence for the user: where, and why.
func (u Unread) String() string {
	switch {
	case u.Line > 0:
		return fmt.Sprintf("%s:%d: %s", u.File, u.Line, u.Reason)
	case u.Element > 0:
		return fmt.Sprintf("%s: entry %d: %s", u.File, u.Element, u.Reason)
	}
	return u.File + ": " + u.Reason
}
