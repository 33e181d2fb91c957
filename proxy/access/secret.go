package access

import (
	"fmt"
	"io"
)

// Secret is a credential that hides itself: printed, logged or encoded it is ***,
// or empty if it is. string(s) is the value.
type Secret string

// String returns *** for a secret that is not empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// Format writes String for every verb. Without it %d would print the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText hides the value from JSON, YAML, zap and log/slog alike.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
