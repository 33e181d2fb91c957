package proxy

import (
	"testing"
)

func TestOddTargetsAreRefusedOrPassExactly(t *testing.T) {
	u, p := plain(t)
	refused := func(line string, want int) {
		t.Helper()
		answer := raw(t, p.addr, line+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		if got := statusOf(t, answer); got != want {
			t.Errorf("%s: status %d, want %d", line, got, want)
		}
	}
	refused("CONNECT evil:443", 405)
	refused("CONNECT /v1/models", 405)
	refused("TRACE /v1/models", 405)
	refused("PRI *", 405)
	refused("FOO /v1/models", 405)
	refused("GET http://evil/v1/models", 404)
	refused("GET https://localhost/v1/models", 404)
	refused("GET /v1/../admin", 404)
	refused("GET /v1/..", 404)
	refused("GET /v1/./models", 404)
	refused("GET /v1/%2e%2e/admin", 404)
	refused("GET /v1/%2E./admin", 404)
	refused("GET /v1/..%2fadmin", 404)
	refused("GET /v1/..%5cadmin", 404)
	refused(`GET /v1/..\admin`, 404)
	refused("GET /v1/..;/admin", 404)
	refused("GET *", 404)
	u.saw(t, 0)
	passes := func(target, want string) {
		t.Helper()
		before := len(u.requests())
		raw(t, p.addr, "GET "+target+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
		seen := u.requests()
		if len(seen) != before+1 || seen[before].URI != want || seen[before].Host != u.Listener.Addr().String() {
			t.Errorf("%s: upstream saw %v", target, seen[before:])
		}
	}
	passes("/v1/models", "/v1/models")
	passes("/v1", "/v1")
	passes("/v1/", "/v1/")
	passes("/v1/a%2fb", "/v1/a%2fb")
	passes("/v1/a%2Fb%20c", "/v1/a%2Fb%20c")
	passes("/v1/...", "/v1/...")
	passes("/v1/models?a;b&c=%zz&d", "/v1/models?a;b&c=%zz&d")
	passes("/v1/models?", "/v1/models?")
	passes("//evil/x", "//evil/x")
	passes("/v1beta/models", "/v1beta/models")
	passes("/api/tags", "/api/tags")
	passes("/models", "/v1/models")
	passes("/models/a", "/v1/models/a")
}
