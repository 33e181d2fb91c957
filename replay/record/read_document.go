package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readDocument reads one body written over several lines, or an array of bodies.
func readDocument(r *bufio.Reader, yield take) error {
	d := json.NewDecoder(r)
	t, err := d.Token()
	if err != nil {
		return errors.New("this is not valid JSON")
	}
	if t == json.Delim('{') {
		raw, err := io.ReadAll(io.LimitReader(io.MultiReader(d.Buffered(), r), longestLine))
		if err == nil {
			yield(append([]byte{'{'}, raw...), Unread{})
		}
		return err
	}
	switch n, err := readArray(d, "element", "array", yield); {
	case err != nil:
		return err
	case n == 0:
		return errors.New("the array is empty: there is no conversation in it")
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something stands behind the array; it is not read")
	}
	return nil
}

// readArray reads the rest of an array, whose bracket was read, and returns how
// many elements it has. one and all are the words for an element and the array.
func readArray(d *json.Decoder, one, all string, yield take) (n int, err error) {
	fault := func(err error, what string) error {
		if ended(err) {
			return fmt.Errorf("the file ends in the middle of its %s", all)
		}
		return fmt.Errorf("%s %d is not valid JSON; reading stops there", what, n)
	}
	for d.More() {
		n++
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return n, fault(err, one)
		}
		if !yield(raw, Unread{Element: n}) {
			return n, nil
		}
	}
	if _, err := d.Token(); err != nil {
		return n, fault(err, "what stands behind "+one)
	}
	return n, nil
}

// ended reports whether err says that the input ended within a JSON value.
func ended(err error) bool { return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) }
