package access

import (
	"net/http/httptest"
	"testing"
)

func TestEveryOriginCanBeAllowedButNoHost(t *testing.T) {
	g := NewGuard(true, []string{"*"}, "")
	r := httptest.NewRequest("GET", "/", nil)
	r.Host = "localhost"
	r.Header.Set("Origin", "https://evil.example")
	if no := g.Check(r); no != nil {
		t.Error(no)
	}
	r.Host = "evil.example"
	if no := g.Check(r); no == nil {
		t.Error("a foreign Host is served")
	}
}
