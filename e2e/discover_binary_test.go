package e2e

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// TestRandomKeysMakeFewQuestions: an upstream is asked what it is once, whoever
// sends the requests.
func TestRandomKeysMakeFewQuestions(t *testing.T) {
	t.Parallel()
	u, err := launch(strict.Options{})
	if err != nil {
		t.Fatal(err)
	}
	u.tells = true
	u.serve()
	t.Cleanup(u.close)
	path, err := laconicPath()
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(path, t.TempDir(), os.Environ(), "--upstream", u.url, "--admin", "off")
	if err != nil {
		t.Fatal(err)
	}
	const most = 7 // the places where upstreams tell
	for i := range 40 {
		r, err := http.NewRequest(http.MethodPost, p.URL+"/v1/chat/completions", strings.NewReader(`{"model":"local","messages":[{"role":"user","content":"hi"}]}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Authorization", fmt.Sprint("Bearer random-", i))
		res, err := p.client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close()
	}
	if err := p.stop(); err != nil { // what is asked in the background ends with it
		t.Fatal(err)
	}
	asked := 0
	for n := 1; ; n++ {
		a, ok := u.nth(n)
		if !ok {
			break
		}
		if a.header.Get("User-Agent") == "laconic" {
			asked++
		}
	}
	if asked < 1 || asked > most {
		t.Errorf("asked %d times, want 1 to %d", asked, most)
	}
}
