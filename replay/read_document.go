package replay

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
	if c, _, err := r.ReadRune(); err == nil && c != '\ufeff' {
		if err := r.UnreadRune(); err != nil {
			return err
		}
	}
	d := json.NewDecoder(r)
	t, err := d.Token()
	if err != nil {
		return errors.New("this is not valid JSON")
	}
	if t == json.Delim('{') {
		raw, err := io.ReadAll(io.LimitReader(io.MultiReader(d.Buffered(), r), longestLine))
		if err != nil {
			return errors.New(whyNot(err))
		}
		return g.record(append([]byte{'{'}, raw...), name, Unread{})
	}
	for n := 1; d.More(); n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fmt.Errorf("element %d is not valid JSON; reading stops there", n)
		}
		if err := g.record(raw, fmt.Sprintf("%s:%d", name, n), Unread{Element: n}); err != nil {
			return err
		}
	}
	return nil
}
