package config

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// form is how a plain value is written.
type form struct {
	want  string   // in words
	tags  []string // the types of YAML that it may have
	parse func(text string) (value any, number float64, err error)
}

// formOf returns the form that a schema wants.
func formOf(s *schema) form {
	number := []string{"!!int", "!!float"}
	plain := []string{"!!str", "!!int", "!!float"}
	auto := func(wrong string, parse func(string) (float64, error)) form {
		return form{"one value", plain, func(text string) (any, float64, error) {
			if text == "auto" {
				return 0, 0, nil
			}
			f, err := parse(text)
			if err != nil && strings.Trim(text, "0123456789_-") != "" {
				err = errors.New(wrong)
			}
			return f, f, err
		}}
	}
	switch s.Format {
	case "size":
		return form{"one value", plain, func(text string) (any, float64, error) {
			v, err := parseSize(text)
			return int64(v), float64(v), err
		}}
	case "duration":
		return form{"one value", plain, func(text string) (any, float64, error) {
			v, err := parseDuration(text)
			return int64(v), float64(v), err
		}}
	case "window":
		return auto("must be auto or a whole number of tokens", func(text string) (float64, error) {
			n, err := parseWhole(text)
			return float64(n), err
		})
	case "trigger":
		return auto("must be auto or a share of the budget, such as 0.9", parseFraction)
	}
	switch s.Type {
	case "boolean":
		return form{"true or false", []string{"!!bool"}, func(text string) (any, float64, error) {
			b, err := parseBool(text)
			return b, 0, err
		}}
	case "integer":
		return form{"a whole number", number, func(text string) (any, float64, error) {
			n, err := parseWhole(text)
			return n, float64(n), err
		}}
	case "number":
		return form{"a number", number, func(text string) (any, float64, error) {
			f, err := parseFraction(text)
			return f, f, err
		}}
	}
	return form{"text", []string{"!!str"}, func(text string) (any, float64, error) { return text, 0, nil }}
}

// parseBool reads true or false.
func parseBool(s string) (bool, error) {
	b, err := strconv.ParseBool(s)
	if err != nil || len(s) == 1 {
		return false, errors.New("must be true or false")
	}
	return b, nil
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
	d, err := time.ParseDuration(s)
	if err == nil && (s == "0" || s == "-0" || s == "+0") {
		err = errors.New("no unit")
	}
	if err != nil {
		if _, err := strconv.ParseFloat(s, 64); err == nil {
			return 0, errors.New("needs a unit: ms, s, m or h")
		}
		return 0, errors.New("must be a time with its unit, such as 10s, 15m or 1h30m")
	}
	return Duration(d), nil
}

// String writes the duration without parts that are zero: 15m, not 15m0s.
func (d Duration) String() string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Window is a number of tokens; 0 is "auto": as the upstream tells, else by the
// model's name.
type Window int

// String writes the window as the file has it.
func (w Window) String() string {
	if w == 0 {
		return "auto"
	}
	return strconv.Itoa(int(w))
}

// Trigger is a share of the budget; 0 is "auto": it depends on how well tokens
// are counted.
type Trigger float64

// String writes the trigger as the file has it.
func (t Trigger) String() string {
	if t == 0 {
		return "auto"
	}
	return strconv.FormatFloat(float64(t), 'g', -1, 64)
}

// parseFraction reads a plain decimal number: no exponent, no infinity.
func parseFraction(s string) (float64, error) {
	if s == "" || strings.Trim(s, "0123456789.-") != "" {
		return 0, errors.New("must be a number")
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		return 0, errors.New("must be a number")
	}
	return f, nil
}

// parseWhole reads a whole number; YAML lets _ part its digits. The error is a
// sentence that follows the key's name.
func parseWhole(s string) (int, error) {
	plain := strings.ReplaceAll(s, "_", "")
	digits := strings.TrimPrefix(plain, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" || (len(digits) > 1 && digits[0] == '0') {
		return 0, errors.New("must be a whole number")
	}
	n, err := strconv.ParseInt(plain, 10, 64)
	if err != nil || n > math.MaxInt32*1024 || n < -math.MaxInt32*1024 {
		return 0, errors.New("is far too large")
	}
	return int(n), nil
}
