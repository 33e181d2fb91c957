package wire_test

import (
	"testing"

	"laconic/proxy/wire"
)

// TestAMarkerThatMovesMovesNothing: a part of a kind that is not known is
// compared and charged without the marks that clients move from turn to turn.
func TestAMarkerThatMovesMovesNothing(t *testing.T) {
	const want = `{"type":"document","source":{"data":1}}`
	for _, part := range []string{
		want,
		`{"type":"document","source":{"data":1},"cache_control":{"type":"ephemeral","ttl":"1h"}}`,
		`{"type":"document" , "cache_control":{"type":"ephemeral"},"source":{"data":1}}`,
		`{"cache_control":{"type":"ephemeral"}, "type":"document","source":{"data":1}}`,
		`{"prompt_cache_breakpoint":true,"type":"document","cache_control":null,"source":{"data":1}}`,
		`{ "cache_control":null,"prompt_cache_breakpoint":true,"type":"document","source":{"data":1}}`,
	} {
		r := decoded(t, wire.Chat, []byte(`{"messages":[{"role":"user","content":[`+part+`]}]}`))
		if got := r.Conversation.Messages[0].Parts[0].Text.String(); got != want {
			t.Errorf("%s is read as %s", part, got)
		}
	}
}
