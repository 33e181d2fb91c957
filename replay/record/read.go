package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
)

// longestLine is the length of the longest line that is read, in bytes.
const longestLine = 512 << 20

// peeked is how many bytes of a file decide its form.
const peeked = 64 << 10

// Read yields every conversation of a file, and an Unread for everything that
// could not be read, with the reason in words for the user. Reading goes on
// after an Unread that names a line or an element.
//
// A file holds one JSON object a line (conversations as {"id", "messages",
// "tools"}, or request bodies), always if its name ends in .jsonl or .ndjson,
// or is one JSON body, an array of bodies, or a HAR file. Requests that continue
// one another are one conversation.
//
// The bytes read are added to n, which may be nil.
func Read(file string, n *atomic.Int64) iter.Seq2[*Conversation, *Unread] {
	return func(yield func(*Conversation, *Unread) bool) {
		g := grouping{file: file, yield: yield}
		if err := readBodies(file, n, g.take); err != nil && !g.stopped {
			g.take(nil, Unread{Reason: WhyNot(err)})
		}
		for _, r := range g.open {
			g.send(r, nil)
		}
	}
}

// take is a function that gets the JSON of a conversation or of a request with
// its place, or a place with the reason why it cannot be read. It reports whether
// the reading goes on.
type take func(raw []byte, at Unread) bool

func readBodies(file string, n *atomic.Int64, yield take) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if s, err := f.Stat(); err == nil && s.IsDir() {
		return errors.New("this is a folder: name the files in it")
	}
	r := bufio.NewReaderSize(&countedReader{f, n}, peeked)
	start, err := r.Peek(peeked)
	if err != nil && err != io.EOF {
		return err
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(start, mark) {
		start = start[len(mark):]
		_, _ = r.Discard(len(mark)) // cannot fail: these bytes are buffered
	}
	start = bytes.TrimLeft(start, " \t\r\n")
	if len(start) == 0 && err == io.EOF {
		return errors.New("the file is empty: there is no conversation in it")
	}
	switch formOf(filepath.Base(file), start) {
	case formHAR:
		return readHAR(r, yield)
	case formDocument:
		return readDocument(r, yield)
	}
	return readLines(r, yield)
}

// form is the format of a file.
type form int

const (
	formLines    form = iota // one JSON object a line
	formDocument             // one JSON value over several lines
	formHAR
)

var startOfHAR = regexp.MustCompile(`^\{\s*"log"\s*:`)

// formOf returns the form of a file by its name and its first bytes. An
// extension for lines decides, so that a broken first line is one Unread and not
// a broken file.
func formOf(name string, start []byte) form {
	extension := strings.ToLower(filepath.Ext(name))
	line, rest, several := bytes.Cut(start, []byte("\n"))
	line = bytes.TrimSpace(line)
	switch {
	case extension == ".jsonl" || extension == ".ndjson":
		return formLines
	case extension == ".har" || startOfHAR.Match(start):
		return formHAR
	case bytes.HasPrefix(rest, []byte(`{"`)) && !oneValue(start):
		return formLines
	case len(start) > 0 && start[0] == '[', string(line) == "{":
		return formDocument
	case extension == ".json" && several && !json.Valid(line):
		return formDocument
	}
	return formLines
}

// oneValue reports whether the first two lines of a text may belong to one JSON
// value.
func oneValue(start []byte) bool {
	lines := bytes.SplitN(start, []byte("\n"), 3)
	d := json.NewDecoder(bytes.NewReader(bytes.Join(lines[:min(2, len(lines))], []byte("\n"))))
	var first json.RawMessage
	if err := d.Decode(&first); err != nil {
		return ended(err)
	}
	return !d.More()
}

// WhyNot returns in plain words why a file cannot be read.
func WhyNot(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not read the file"
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// countedReader adds the bytes read to n, if n is not nil.
type countedReader struct {
	io.Reader
	n *atomic.Int64
}

func (r *countedReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if r.n != nil {
		r.n.Add(int64(n))
	}
	return n, err
}
