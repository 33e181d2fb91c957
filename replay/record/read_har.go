package record

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
)

// harEntry is what matters of one exchange in a HAR file
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

// chatRoute is how the path of the requests that are replayed ends.
const chatRoute = "/chat/completions"

// readHAR reads the chat requests of a HAR file, entry by entry.
func readHAR(r *bufio.Reader, g *grouping) error {
	d := json.NewDecoder(r)
	if !enter(d, "log") || !enter(d, "entries") {
		return errors.New("this is not a HAR file: log.entries is missing")
	}
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return errors.New("this is not a HAR file: log.entries is not a list")
	}
	found := false
	for n := 1; d.More(); n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return fmt.Errorf("entry %d is not valid JSON; reading stops there", n)
		}
		var e harEntry
		if err := json.Unmarshal(raw, &e); err != nil {
			if err := g.bad(Unread{Element: n, Reason: "the entry is not written as HAR says"}); err != nil {
				return err
			}
			continue
		}
		body, ok := e.chat()
		if !ok {
			continue
		}
		found = true
		if err := g.record(body, fmt.Sprintf("%s:%d", filepath.Base(g.file), n), Unread{Element: n}); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return errors.New("the file ends in the middle of its entries")
	}
	if !found {
		return errors.New("no entry is a POST …" + chatRoute + " with a body")
	}
	return nil
}

// chat is the body of a chat request; false for any other exchange.
func (e *harEntry) chat() ([]byte, bool) {
	u, err := url.Parse(e.Request.URL)
	if err != nil || e.Request.Method != "POST" || !strings.HasSuffix(u.Path, chatRoute) || e.Request.PostData == nil {
		return nil, false
	}
	text := []byte(e.Request.PostData.Text)
	if e.Request.PostData.Encoding == "base64" {
		if decoded, err := base64.StdEncoding.DecodeString(e.Request.PostData.Text); err == nil {
			text = decoded
		}
	}
	return text, len(text) > 0
}

// enter goes into the object that follows, up to the value of key.
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
