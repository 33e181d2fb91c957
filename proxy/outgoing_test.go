package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"
)

// rewinding is a transport that loses its connection in mid body, as Go's own
// does, and sends it again where it may.
type rewinding struct {
	may    bool
	bodies []string
	again  func() (io.ReadCloser, error)
}

func (r *rewinding) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = req.Body.Read(make([]byte, 10))
	r.again = req.GetBody
	body := req.Body
	if r.may = req.GetBody != nil; r.may {
		var err error
		if body, err = req.GetBody(); err != nil {
			return nil, err
		}
	}
	b, err := io.ReadAll(body)
	r.bodies = append(r.bodies, string(b))
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(plainAnswer)), ContentLength: -1,
		ProtoMajor: 1, ProtoMinor: 1, Request: req,
	}, nil
}

// A body that the upstream did not see may be sent again, by Go itself; one
// that it may have worked on is not: an idempotency key would allow that.
func TestABodyCanBeRewoundUntilItsAnswerBegins(t *testing.T) {
	f := func(may bool, path string, headers ...string) {
		t.Helper()
		rt := &rewinding{}
		p := start(t, func() Options {
			o := options(parseURL(t, "http://upstream.test/v1"))
			o.Transport = rt
			return o
		}())
		res := p.do("POST", path, strings.NewReader(chatBody), headers...)
		if res.StatusCode != 200 || rt.may != may {
			t.Errorf("%v: %d, may be rewound: %v", headers, res.StatusCode, rt.may)
		}
		if may && rt.bodies[0] != chatBody {
			t.Errorf("sent again as %q", rt.bodies[0])
		}
		p.replies(1)
		if may {
			if _, err := rt.again(); err == nil {
				t.Error("the body is still there after its answer")
			}
		}
	}
	f(true, "/v1/chat/completions")
	f(false, "/v1/chat/completions", "Idempotency-Key", "abc")
	f(false, "/v1/chat/completions", "X-Idempotency-Key", "")
	f(false, "/v1/responses")
}
