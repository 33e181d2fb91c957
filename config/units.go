package config

import (
	"errors"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// form returns in words what a plain value must be, and the types of YAML that
// it may have.
func (s *schema) form() (want string, tags []string) {
	switch {
	case slices.Contains([]string{"size", "duration", "window", "trigger"}, s.Format):
		return "one value", []string{"!!str", "!!int", "!!float"}
	case s.is("boolean"):
		return "true or false", []string{"!!bool"}
	case s.is("integer"):
		return "a whole number", []string{"!!int", "!!float"}
	case s.is("number"):
		return "a number", []string{"!!int", "!!float"}
	}
	return "text", []string{"!!str"}
}

// parse returns a plain value, and the number that must be in range.
func (s *schema) parse(text string) (value any, number float64, err error) {
	wrong := map[string]string{
		"window":  "must be auto or a whole number of tokens",
		"trigger": "must be auto or a share of the budget, such as 0.9",
	}[s.Format]
	switch {
	case wrong != "" && text == "auto":
		return 0, 0, nil
	case wrong != "" && strings.Trim(text, "0123456789._-") != "":
		return nil, 0, errors.New(wrong)
	case s.Format == "size":
		n, err := parseSize(text)
		return int64(n), float64(n), err
	case s.Format == "duration":
		d, err := parseDuration(text)
		return int64(d), float64(d), err
	case s.is("boolean"):
		b, err := strconv.ParseBool(text)
		if err != nil || len(text) == 1 {
			return nil, 0, errors.New("must be true or false")
		}
		return b, 0, nil
	case s.is("integer"):
		n, err := parseWhole(text)
		return n, float64(n), err
	case s.is("number"):
		number, err = strconv.ParseFloat(text, 64)
		if err != nil || strings.Trim(text, "0123456789.-") != "" { // no exponent, no infinity
			return nil, 0, errors.New("must be a number")
		}
		return number, number, nil
	}
	return text, 0, nil
}

// Size is a number of bytes, written with its unit: 64MiB, 512MB.
type Size int64

// sizeUnits are the units of a Size, the largest binary one first: String takes
// the first that comes out even.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"GiB", 1 << 30},
	{"MiB", 1 << 20},
	{"GB", 1e9},
	{"MB", 1e6},
	{"KiB", 1 << 10},
	{"KB", 1e3},
	{"B", 1},
}

// parseSize reads a Size. The error is a sentence that follows the key's name.
func parseSize(s string) (Size, error) {
	digits := strings.TrimRight(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
	n, err := strconv.ParseFloat(strings.TrimSpace(digits), 64)
	unit := s[len(digits):]
	if err != nil || strings.ContainsAny(digits, "eExXpP_+") {
		return 0, errors.New("must be a size with its unit, such as 64MiB or 512MB")
	}
	for _, u := range sizeUnits {
		if !strings.EqualFold(u.name, unit) {
			continue
		}
		bytes := n * float64(u.bytes)
		switch {
		case bytes < 0:
			return 0, errors.New("cannot be negative")
		case bytes > math.MaxInt64/2:
			return 0, errors.New("is larger than any machine")
		}
		return Size(bytes), nil
	}
	return 0, errors.New("needs a unit: B, KB, KiB, MB, MiB, GB or GiB")
}

// MarshalText writes the size as the file has it.
func (s Size) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// String writes the size with the unit that comes out even.
func (s Size) String() string {
	for _, u := range sizeUnits {
		if int64(s) >= u.bytes && int64(s)%u.bytes == 0 {
			return strconv.FormatInt(int64(s)/u.bytes, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// Duration is a span of time, written with its unit: 10s, 15m, 1h30m.
type Duration time.Duration

func seconds(n int) Duration { return Duration(n) * Duration(time.Second) }

// parseDuration reads a Duration. The error is a sentence that follows the
// key's name.
func parseDuration(s string) (Duration, error) {
	if _, err := strconv.ParseFloat(s, 64); err == nil {
		return 0, errors.New("needs a unit: ms, s, m or h")
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errors.New("must be a time with its unit, such as 10s, 15m or 1h30m")
	}
	return Duration(d), nil
}

// MarshalText writes the duration as the file has it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// String writes the duration without parts that are zero: 15m, not 15m0s.
func (d Duration) String() string { return zeros.ReplaceAllString(time.Duration(d).String(), "$1") }

// zeros are the last parts of a duration that are zero, with the unit before them.
var zeros = regexp.MustCompile(`([hm])(?:0m)?0s$`)

// parseWhole reads a whole number; YAML lets _ part its digits. The error is a
// sentence that follows the key's name.
func parseWhole(s string) (int, error) {
	plain := strings.ReplaceAll(s, "_", "")
	n, err := strconv.ParseInt(plain, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange) || n > math.MaxInt32*1024 || n < -math.MaxInt32*1024:
		return 0, errors.New("is far too large")
	case err != nil || strconv.FormatInt(n, 10) != plain:
		return 0, errors.New("must be a whole number")
	}
	return int(n), nil
}
