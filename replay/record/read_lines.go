package record

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// readLines reads one JSON object a line and skips empty lines.
func readLines(r *bufio.Reader, yield take) error {
	for n := 1; ; n++ {
		line, err := readLine(r)
		if err != nil && err != io.EOF {
			return fmt.Errorf("reading stops at line %d: %s", n, WhyNot(err))
		}
		if line = bytes.TrimSpace(line); len(line) > 0 && !yield(line, Unread{Line: n}) || err == io.EOF {
			return nil
		}
	}
}

var errLongLine = errors.New("the line is longer than 512 MiB")

// readLine reads up to a line feed or the end of the file. The caller may keep
// the line.
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
