package stories

import (
	"bytes"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"laconic/e2e/rig"

	"github.com/klauspost/compress/zstd"
	"github.com/rogpeppe/go-internal/testscript"
)

// ask is one request as a story wants it.
type ask struct {
	method, path, to string
	headers          several
	key, encoding    string
	file             string // of the body; "" for none
	until            string // what the answer must hold; asked again until it does
}

func (k *ask) flags(f *flag.FlagSet) {
	f.StringVar(&k.method, "method", "", "")
	f.StringVar(&k.path, "path", "/v1/chat/completions", "")
	f.StringVar(&k.to, "to", "", "")
	f.Var(&k.headers, "H", "")
	f.StringVar(&k.key, "key", "", "")
	f.StringVar(&k.encoding, "encoding", "", "")
	f.StringVar(&k.until, "until", "", "")
}

// request makes the request. The path is sent as it is written.
func (k *ask) request(ts *testscript.TestScript) *http.Request {
	if k.to == "" {
		k.to = ts.Getenv("PROXY")
	}
	base, err := url.Parse(k.to)
	ts.Check(err)
	path, query, _ := strings.Cut(k.path, "?")
	method := k.method
	r := &http.Request{
		URL:    &url.URL{Scheme: "http", Host: base.Host, Opaque: path, RawQuery: query},
		Header: http.Header{"User-Agent": {"a client"}},
	}
	if k.file != "" {
		body := encoded(ts, k.encoding, []byte(ts.ReadFile(k.file)))
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Set("Content-Type", "application/json")
		if k.encoding != "" {
			r.Header.Set("Content-Encoding", k.encoding)
		}
		if method == "" {
			method = http.MethodPost
		}
	}
	r.Method = method
	if k.key != "" {
		r.Header.Set("Authorization", "Bearer "+k.key)
	}
	told := map[string]bool{}
	for _, h := range k.headers {
		name, value, ok := strings.Cut(h, ": ")
		if !ok {
			ts.Fatalf("not a header: %s", h)
		}
		switch canonical := http.CanonicalHeaderKey(name); {
		case canonical == "Host":
			r.Host = value
		case told[canonical]:
			r.Header.Add(name, value)
		default:
			told[canonical] = true
			r.Header.Set(name, value)
		}
	}
	return r
}

// encoded compresses a body. An encoding that nobody knows leaves it as it is.
func encoded(ts *testscript.TestScript, encoding string, body []byte) []byte {
	var b bytes.Buffer
	var w io.WriteCloser
	switch encoding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "zstd":
		z, err := zstd.NewWriter(&b)
		ts.Check(err)
		w = z
	default:
		return body
	}
	_, err := w.Write(body)
	ts.Check(err)
	ts.Check(w.Close())
	return b.Bytes()
}

// post: post [FLAG]… [FILE] sends a request and prints the answer: status,
// headers, an empty line, body. The body alone goes to answer.body. With "!"
// there must be no answer, or one that breaks off.
//
//	-path P      the path and query (/v1/chat/completions)
//	-method M    POST with a file, else GET
//	-H 'K: V'    a header; may be repeated
//	-key K       Authorization: Bearer K
//	-encoding E  the body is compressed: gzip, zstd, or only called so
//	-to URL      not to $PROXY
//	-until TEXT  again and again, until the answer's body holds the text
func post(ts *testscript.TestScript, neg bool, args []string) {
	var k ask
	if rest := flags(ts, args, 0, 1, k.flags); len(rest) == 1 {
		k.file = rest[0]
	}
	s := storyOf(ts)
	var status string
	var header http.Header
	var body []byte
	var err error
	if !rig.Soon(func() bool {
		status, header, body, err = fetch(s.client, k.request(ts))
		return k.until == "" || strings.Contains(string(body), k.until)
	}) {
		ts.Fatalf("no answer has %q, the last: %s", k.until, body)
	}
	if (err != nil) != neg {
		ts.Fatalf("status %s, error %v", status, err)
	}
	fmt.Fprintf(ts.Stdout(), "%s\n%s\n%s\n", status, headerLines(header), body)
	ts.Check(os.WriteFile(ts.MkAbs("answer.body"), body, 0o666))
}

// fetch sends a request and reads the answer to its end.
func fetch(client *http.Client, r *http.Request) (status string, h http.Header, body []byte, err error) {
	res, err := client.Do(r)
	if err != nil {
		return "", nil, nil, err
	}
	defer res.Body.Close()
	body, err = io.ReadAll(res.Body)
	return res.Status, res.Header, body, err
}

// stall: stall N opens a connection, announces a body of N bytes and never sends
// one. It returns when the proxy waits for that body.
func stall(ts *testscript.TestScript, args []string) {
	size := flags(ts, args, 1, 1, nil)[0]
	address := strings.TrimPrefix(ts.Getenv("PROXY"), "http://")
	c, err := net.Dial("tcp", address)
	ts.Check(err)
	ts.Defer(func() { _ = c.Close() })
	ts.Check(c.SetDeadline(time.Now().Add(rig.Patience)))
	fmt.Fprintf(c, "POST /v1/chat/completions HTTP/1.1\r\nHost: %s\r\nContent-Length: %s\r\nExpect: 100-continue\r\n\r\n", address, size)
	answer := make([]byte, len("HTTP/1.1 100"))
	if _, err := io.ReadFull(c, answer); err != nil || string(answer) != "HTTP/1.1 100" {
		ts.Fatalf("the proxy does not wait for the body: %q, %v", answer, err)
	}
}
