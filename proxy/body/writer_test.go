package body

import (
	"net/http"
	"net/http/httptest"
	"testing"
)

// The time of a write may be over in the moment in which the request is. The
// server's writer is gone then, and who uses it ends the process.
func TestHTTP2NoWriteIsCutOnceTheRequestIsOver(t *testing.T) {
	var rw *Writer
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rw = NewWriter(w, r)
		_, _ = rw.Write([]byte("ok"))
		rw.End()
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	res, err := s.Client().Get(s.URL)
	if err != nil || res.ProtoMajor != 2 {
		t.Fatal(res, err)
	}
	_ = res.Body.Close()
	s.Close()
	rw.cut()
	if rw.expired.Load() {
		t.Error("it was cut")
	}
}
