package wire_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"golang.org/x/tools/txtar"

	"laconic/proxy/wire"
)

// FuzzDecodeEncode: whatever comes, Decode passes it or reads it; unedited it goes out as it came; edited it is valid,
// reads as it was meant, and nothing but messages changed.
func FuzzDecodeEncode(f *testing.F) {
	for _, w := range wire.All {
		archive, err := txtar.ParseFile(goldenFile(w))
		if err != nil {
			f.Fatal(err)
		}
		for _, s := range stories(f, archive) {
			f.Add(s.body(), []byte{5, 0, 1})
			f.Add(s.body(), []byte("the quick brown fox"))
		}
	}
	f.Add(history(8<<10), []byte{7, 1, 0, 3, 2})
	f.Fuzz(func(t *testing.T, body, source []byte) {
		for _, form := range forms {
			decodedAndEncoded(t, form, body, source)
		}
	})
}

func decodedAndEncoded(t *testing.T, form form, body, source []byte) {
	w := form.wire
	came := slices.Clone(body)
	r, err := w.Decode(body)
	if err != nil {
		var pass *wire.PassError
		if !errors.As(err, &pass) || pass.Offset < 0 || pass.Offset > int64(len(body)) {
			t.Fatalf("%s: %v is no *PassError of this body", w.Name(), err)
		}
		if pass.Reason == wire.InvalidJSON && json.Valid(body) {
			t.Fatalf("%s: %v, but it is valid", w.Name(), err)
		}
		return
	}
	unedited(t, r)
	shuffled(t, form, r, source)
	if !slices.Equal(came, body) {
		t.Fatalf("%s: the client's bytes were written to", w.Name())
	}
}
