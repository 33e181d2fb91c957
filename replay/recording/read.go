// Package recording reads recorded conversations.
//
// # Promises
//
//   - never silent: every line, element or entry that cannot be read is named
//     with its place and the reason, and the ones after it are read.
//   - flat: of JSON lines one conversation is in memory, and of requests that continue
//     one another at most sixteen, however long a file is.
//   - as the proxy reads: a body that the proxy would not take as a chat request
//     is no conversation here.
//
// A file holds JSON lines, one JSON body, an array of bodies, or a HAR archive.
package recording

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidwall/gjson"
)

// longest is the length of the longest line, and of the longest file that is one JSON
// value, in bytes.
const longest = 512 << 20

// Read yields every conversation of a file, or of in, whose name is -, and an Unread for
// everything that could not be read, with the reason in words for the user. Reading goes
// on after an Unread that names a line or an element.
//
// A file whose name ends in .jsonl or .ndjson holds one JSON object a line:
// conversations as {"id", "messages", "tools"}, or request bodies. Any other file holds
// the same, or is one JSON body, an array of bodies, or a HAR archive. Requests that
// continue one another are one conversation.
func Read(file string, in io.Reader) iter.Seq2[*Recording, *Unread] {
	return func(yield func(*Recording, *Unread) bool) {
		g := grouping{file: file, yield: yield}
		var err error
		if file == "-" {
			g.file = "standard input"
			err = g.readText(in)
		} else {
			err = g.readFile()
		}
		if err != nil {
			g.send(nil, &Unread{File: g.file, Reason: WhyNot(err)})
		}
		for _, r := range g.open {
			g.send(r, nil)
		}
	}
}

func (g *grouping) readFile() error {
	f, err := os.Open(g.file)
	if err != nil {
		return err
	}
	defer f.Close()
	s, err := f.Stat()
	if err != nil {
		return err
	}
	switch {
	case s.IsDir():
		return errors.New("this is a folder: name the files in it")
	case s.Size() > longest, slices.Contains([]string{".jsonl", ".ndjson"}, strings.ToLower(filepath.Ext(g.file))):
		return g.readLines(f)
	}
	return g.readText(f)
}

func (g *grouping) readText(from io.Reader) error {
	text, err := io.ReadAll(from)
	if err != nil {
		return err
	}
	if whole := bytes.TrimPrefix(text, mark); json.Valid(whole) {
		return g.readDocument(whole)
	}
	return g.readLines(bytes.NewReader(text))
}

// mark is the byte order mark that some programs begin a file with.
var mark = []byte("\ufeff")

// readLines reads one JSON object a line and skips empty lines.
func (g *grouping) readLines(from io.Reader) error {
	lines, n, empty := bufio.NewScanner(from), 1, true
	lines.Buffer(nil, longest)
	for ; lines.Scan(); n++ {
		line := bytes.TrimSpace(bytes.TrimPrefix(lines.Bytes(), mark))
		if len(line) > 0 && !g.take(bytes.Clone(line), Unread{Line: n}) {
			return nil
		}
		empty = empty && len(line) == 0
	}
	switch {
	case lines.Err() != nil:
		return fmt.Errorf("reading stops at line %d: %s", n, WhyNot(lines.Err()))
	case empty:
		return errors.New("the file is empty: there is no conversation in it")
	}
	return nil
}

// readDocument reads one body, an array of bodies, or a HAR archive.
func (g *grouping) readDocument(text []byte) error {
	document := gjson.ParseBytes(text)
	entries := document.Get("log.entries")
	switch {
	case entries.IsArray():
		return g.readHAR(entries)
	case !document.IsArray():
		g.take(text, Unread{})
		return nil
	}
	all := document.Array()
	for n, one := range all {
		if !g.take([]byte(one.Raw), Unread{Element: n + 1}) {
			return nil
		}
	}
	if len(all) == 0 {
		return errors.New("the array is empty: there is no conversation in it")
	}
	return nil
}

// routes are the ends of the paths of requests that are read.
var routes = []string{"/chat/completions", "/responses", "/messages"}

// readHAR reads the chat requests of a HAR archive
// (http://www.softwareishard.com/blog/har-12-spec).
func (g *grouping) readHAR(entries gjson.Result) error {
	found := false
	for n, entry := range entries.Array() {
		request := entry.Get("request")
		u, err := url.Parse(request.Get("url").Str)
		text := []byte(request.Get("postData.text").Str)
		if err != nil || len(text) == 0 || request.Get("method").Str != "POST" || !slices.ContainsFunc(routes, func(r string) bool { return strings.HasSuffix(u.Path, r) }) {
			continue
		}
		if request.Get("postData.encoding").Str == "base64" { // not in the specification, but written by some tools
			if decoded, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
				text = decoded
			}
		}
		found = true
		if !g.take(text, Unread{Element: n + 1}) {
			return nil
		}
	}
	if !found {
		return errors.New("no entry is a POST …" + strings.Join(routes, " or …") + " with a body")
	}
	return nil
}

// WhyNot returns in plain words why a file cannot be read.
func WhyNot(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		return "this user may not read the file"
	case errors.Is(err, bufio.ErrTooLong):
		return "the line is longer than 512 MiB"
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err.Error()
	}
	return err.Error()
}

// Unread is a file, or a line or element of one, that could not be read.
type Unread struct {
	File string `json:"file"`
	// Line counts from 1. It is 0 if the fault is that of the whole file, or of
	// an Element.
	Line int `json:"line,omitempty"`
	// Element counts the entries of a HAR file or the elements of an array
	// from 1.
	Element int    `json:"element,omitempty"`
	Reason  string `json:"reason"`
}

// String returns the place and the reason, for the user.
func (u Unread) String() string {
	switch {
	case u.Line > 0:
		return fmt.Sprintf("%s:%d: %s", u.File, u.Line, u.Reason)
	case u.Element > 0:
		return fmt.Sprintf("%s: entry %d: %s", u.File, u.Element, u.Reason)
	}
	return u.File + ": " + u.Reason
}
