package service_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"laconic/compact"
	"laconic/fold"
	"laconic/fold/service"
)

// A gateway of one's own mounts the handler, behind whatever says who may call it.
func ExampleHandler() {
	h := &service.Handler{Options: func(model string) (fold.Options, bool) {
		return fold.Options{Limits: compact.Limits{Window: 32_768}, Overhead: 3_000}, model != "text-embedding-3-small"
	}}
	s := httptest.NewServer(h)
	defer s.Close()

	resp, err := http.Post(s.URL+"/v1/compress", "application/json", strings.NewReader(`{"messages":[{"role":"user","content":"Hello"}],"model":"qwen3-32b"}`))
	if err != nil {
		panic(err)
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, resp.Header.Get("X-Laconic-Outcome"))
	fmt.Println(string(body[:46]))
	// Output:
	// 200 untouched
	// {"messages":[{"role":"user","content":"Hello"}
}
