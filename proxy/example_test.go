package proxy_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"time"

	"laconic/compact"
	"laconic/compact/compacttest"
	"laconic/proxy"
)

func ExampleNew() {
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Println("the upstream got", string(body))
	}))
	defer upstream.Close()
	base, _ := url.Parse(upstream.URL + "/v1")

	p, err := proxy.New(proxy.Options{
		Default: proxy.Route{
			Upstream: base,
			Policy:   &compact.Policy{Name: "repair only"},
			Counter:  compacttest.Words{},
		},
		ResponseHeaders: true,
		Limits:          proxy.Limits{Body: 64 << 20, Memory: 512 << 20, ResponseHeader: time.Minute, StreamIdle: time.Minute},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer p.Close()
	front := httptest.NewServer(p)
	defer front.Close()

	// a history that was cut in the middle: the result's call is gone
	res, err := http.Post(front.URL+"/v1/chat/completions", "application/json", strings.NewReader(
		`{"messages":[{"role":"tool","tool_call_id":"c1","content":"late"},{"role":"user","content":"go on"}], "n":1}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = res.Body.Close()
	fmt.Println("and the client is told:", res.Header.Get("X-Laconic-Outcome"))
	// Output:
	// the upstream got {"messages":[{"role":"user","content":"go on"}], "n":1}
	// and the client is told: repaired
}
