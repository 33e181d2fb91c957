package record

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
)

// longestLine is the longest line that is read, in bytes: longer ones are no
// conversation.
const longestLine = 512 << 20

// peeked is how much of a file is looked at to tell what it is.
const peeked = 64 << 10

// Read yields every conversation of a file in order. What is wrong with a part of
// the file is yielded as an Unread in its place, and reading goes on behind it;
// what is wrong with the whole file is the error, in words for the user and
// without the file's name. An error of yield ends the reading and is returned.
//
// A file holds one JSON object a line (conversations as {"id", "messages",
// "tools"}, or request bodies), always where its name ends in .jsonl or .ndjson,
// or is one JSON body, an array of them, or a HAR file. Requests that go on from
// one another are one conversation.
//
// The bytes read are added to n, which may be nil.
func Read(file string, n *atomic.Int64, yield func(*Conversation, *Unread) error) error {
	f, err := os.Open(file)
	if err != nil {
		return errors.New(WhyNot(err))
	}
	defer f.Close()
	if s, err := f.Stat(); err == nil && s.IsDir() {
		return errors.New("this is a folder: name the files in it")
	}
	r := bufio.NewReaderSize(&countedReader{f, n}, peeked)
	start, err := r.Peek(peeked)
	if err != nil && err != io.EOF {
		return errors.New(WhyNot(err))
	}
	if mark := []byte("\ufeff"); bytes.HasPrefix(start, mark) {
		start = start[len(mark):]
		_, _ = r.Discard(len(mark)) // it was read
	}
	start = bytes.TrimLeft(start, " \t\r\n")
	if len(start) == 0 && err == io.EOF {
		return errors.New("the file is empty: there is no conversation in it")
	}
	name := filepath.Base(file)
	g := &grouping{file: file, yield: yield}
	switch formOf(name, start) {
	case formHAR:
		err = readHAR(r, g)
	case formDocument:
		err = readDocument(r, name, g)
	default:
		err = readLines(r, name, g)
	}
	if flushed := g.flush(); err == nil {
		err = flushed
	}
	return err
}

// form is how a file is written.
type form int

const (
	formLines    form = iota // one JSON object a line
	formDocument             // one JSON value over several lines
	formHAR
)

var startOfHAR = regexp.MustCompile(`^\{\s*"log"\s*:`)

// formOf returns the form by the name of a file and how it starts. A name that
// says lines is believed, so that a broken first line is one line that is broken.
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
	if i := bytes.IndexByte(start, '\n'); i >= 0 {
		if j := bytes.IndexByte(start[i+1:], '\n'); j >= 0 {
			start = start[:i+1+j]
		}
	}
	d := json.NewDecoder(bytes.NewReader(start))
	for depth := 0; ; {
		t, err := d.Token()
		if err != nil {
			return ended(err)
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
		if depth == 0 {
			return !d.More()
		}
	}
}

// WhyNot says in plain words why a file cannot be read.
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

// countedReader counts the bytes read, for the progress.
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
