package wire_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"laconic/compact"
	"laconic/proxy/wire"
)

// shuffle makes edits of every kind to a list of messages, as bytes of a
// source say: the first decides how the first message fares, and so on, and
// then again from the start.
func shuffle(msgs []compact.Message, source []byte) []compact.Message {
	at := 0
	next := func(n int) int {
		if len(source) == 0 {
			return 0
		}
		b := int(source[at%len(source)]) + at/len(source)
		at++
		return b % n
	}
	var out []compact.Message
	for _, m := range msgs {
		m.Parts, m.Calls = slices.Clone(m.Parts), slices.Clone(m.Calls)
		switch next(8) {
		case 0, 1, 2: // stays
		case 3: // leaves
			continue
		case 4: // is only marked
			m.Edited = true
		default:
			m.Edited = true
			if m.Seal != 0 {
				break // it only leaves whole
			}
			if m.Flawed && next(2) == 0 {
				m.Flawed = false
			}
			for i := range m.Calls {
				c := &m.Calls[i]
				switch next(4) {
				case 0:
					if _, named := compact.NameIn(c.ID); !named {
						c.ID = fmt.Sprintf("new_%d", i)
					}
				case 1:
					if c.Arguments.Len() > 0 {
						c.Arguments = compact.Plain(fmt.Sprintf("{\"n\": %d}", i))
					}
				}
			}
			if n := len(m.Calls); n > 0 && next(4) == 0 {
				k := next(n)
				m.Calls = slices.Delete(m.Calls, k, k+1)
			}
			if m.Role.Result() && next(2) == 0 {
				id := "an \"id\""
				if _, named := compact.NameIn(m.Answers); named {
					id = compact.ByName(id)
				}
				m.Answers = id
			}
			for i := range m.Parts {
				if next(3) == 0 {
					m.Parts[i] = compact.Part{Nth: m.Parts[i].Nth, Text: compact.Plain(strings.Repeat("<new> & \"é\"\n\u2028", i))}
				}
			}
			if (m.Shape == compact.Array || m.Shape == compact.String && len(m.Parts) > 0) && next(3) == 0 {
				m.Parts = append(m.Parts, compact.Part{Text: compact.Plain("more \\ text")})
			} else if n := len(m.Parts); m.Shape == compact.Array && n > 0 && next(2) == 0 {
				k := next(n)
				m.Parts = slices.Delete(m.Parts, k, k+1)
			}
		}
		out = append(out, m)
		if next(8) == 0 {
			out = append(out, compact.Message{
				Role: compact.Tool, Shape: compact.String, Answers: "c\t1", Origin: compact.Added, Edited: true,
				Parts: []compact.Part{{Text: compact.Plain("(no result)")}},
			})
		}
	}
	if n := len(out); n > 1 && next(4) == 0 {
		out[n-1], out[n-2] = out[n-2], out[n-1]
	}
	return out
}

// shuffled edits what was decoded and checks what is then sent: nothing but the list
// changed, and of the chat API it reads as it was meant. Other APIs may have no way to
// write an edit.
func shuffled(t testing.TB, form form, r *wire.Request, source []byte) {
	t.Helper()
	msgs := shuffle(r.Conversation.Messages, source)
	out, err := r.Encode(msgs)
	if err != nil {
		if len(msgs) > 0 && form.wire == wire.Chat {
			t.Fatal(err)
		}
		return
	}
	sameBeside(t, form, r.Body, out)
	if form.wire != wire.Chat {
		var pass *wire.PassError
		if _, err := form.wire.Decode(out); errors.As(err, &pass) && pass.Reason != wire.CallElsewhere {
			t.Fatalf("%v\n%s", err, out)
		}
		return
	}
	again(t, wire.Chat, out, msgs)
	// The array put into the body with sjson gives the same bytes.
	array := gjson.GetBytes(out, "messages")
	if b, err := sjson.SetRawBytes(r.Body, "messages", []byte(array.Raw)); err != nil || string(b) != string(out) {
		t.Fatalf("sjson would send something else (%v):\n%s\nwant:\n%s", err, b, out)
	}
	sameBytes(t, r.Body, out, msgs)
}
