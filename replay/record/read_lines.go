package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// readLines reads one JSON object a line. Empty lines are passed over.
func readLines(r *bufio.Reader, name string, g *grouping) error {
	for n := 1; ; n++ {
		line, err := readLine(r)
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading stops at line %d: %s", n, WhyNot(err))
		}
		end := err == io.EOF
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if err := g.record(line, fmt.Sprintf("%s:%d", name, n), Unread{Line: n}); err != nil {
				return err
			}
		}
		if end {
			return nil
		}
	}
}

var errLongLine = errors.New("the line is longer than 512 MiB")

// readLine reads up to a line feed or the end of the file. The line is the
// caller's to keep.
func readLine(r *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		piece, err := r.ReadSlice('\n')
		line = append(line, piece...)
		if err != bufio.ErrBufferFull {
			return line, err
		}
		if len(line) > longestLine {
			return nil, errLongLine
		}
	}
}
