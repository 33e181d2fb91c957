package record

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
)

// harEntry is one exchange in a HAR file, as far as it is read
// (http://www.softwareishard.com/blog/har-12-spec).
type harEntry struct {
	Request struct {
		Method   string
		URL      string
		PostData *struct {
			Text     string
			Encoding string // not in the specification, but written by some tools
		}
	}
}

// routes are the ends of the paths of requests that are read.
var routes = []string{"/chat/completions", "/responses"}

// readHAR reads the chat requests of a HAR file.
func readHAR(r *bufio.Reader, yield take) error {
	d := json.NewDecoder(r)
	if !enter(d, "log") || !enter(d, "entries") {
		return errors.New("this is not a HAR file: log.entries is missing")
	}
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("this is not a HAR file: log.entries is not a list")
	}
	found := false
	_, err := readArray(d, "entry", "entries", func(raw []byte, at Unread) bool {
		var e harEntry
		if json.Unmarshal(raw, &e) != nil {
			at.Reason = "the entry is not written as HAR says"
			return yield(nil, at)
		}
		body, ok := e.chat()
		found = found || ok
		return !ok || yield(body, at)
	})
	if err == nil && !found {
		err = errors.New("no entry is a POST …" + strings.Join(routes, " or …") + " with a body")
	}
	return err
}

// chat returns the body of a chat request, or false for any other exchange.
func (e *harEntry) chat() ([]byte, bool) {
	u, err := url.Parse(e.Request.URL)
	if err != nil || e.Request.Method != "POST" || !slices.ContainsFunc(routes, func(r string) bool { return strings.HasSuffix(u.Path, r) }) || e.Request.PostData == nil {
		return nil, false
	}
	text := []byte(e.Request.PostData.Text)
	if e.Request.PostData.Encoding == "base64" {
		if decoded, err := base64.StdEncoding.DecodeString(string(text)); err == nil {
			text = decoded
		}
	}
	return text, len(text) > 0
}

// enter reads the next object up to the value of key, and reports whether the
// key is there.
func enter(d *json.Decoder, key string) bool {
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return false
	}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return false
		}
		if t == key {
			return true
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return false
		}
	}
	return false
}
