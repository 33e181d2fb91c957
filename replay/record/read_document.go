package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readDocument reads one body written over several lines, or an array of
// bodies, element by element.
func readDocument(r *bufio.Reader, name string, g *grouping) error {
	d := json.NewDecoder(r)
	t, err := d.Token()
	if err != nil {
		return errors.New("this is not valid JSON")
	}
	if t == json.Delim('{') {
		raw, err := io.ReadAll(io.LimitReader(io.MultiReader(d.Buffered(), r), longestLine))
		if err != nil {
			return errors.New(WhyNot(err))
		}
		return g.record(append([]byte{'{'}, raw...), name, Unread{})
	}
	n := 1
	for ; d.More(); n++ {
		var raw json.RawMessage
		switch err := d.Decode(&raw); {
		case ended(err):
			return errors.New("the file ends in the middle of its array")
		case err != nil:
			return fmt.Errorf("element %d is not valid JSON; reading stops there", n)
		}
		if err := g.record(raw, fmt.Sprintf("%s:%d", name, n), Unread{Element: n}); err != nil {
			return err
		}
	}
	switch _, err := d.Token(); {
	case ended(err):
		return errors.New("the file ends in the middle of its array")
	case err != nil:
		return fmt.Errorf("what stands behind element %d is not valid JSON; reading stops there", n-1)
	case n == 1:
		return errors.New("the array is empty: there is no conversation in it")
	}
	if _, err := d.Token(); err != io.EOF {
		return errors.New("something stands behind the array; it is not read")
	}
	return nil
}

// ended reports whether JSON was read up to the end of a file, and nothing in it
// was wrong until then.
func ended(err error) bool { return err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF) }
