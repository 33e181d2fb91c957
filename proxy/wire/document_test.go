package wire

import (
	"fmt"
	"slices"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact"
)

// itemsDialect writes items, which are elements of the list by themselves.
type itemsDialect struct{ chatDialect }

func (itemsDialect) added(dst []byte, m *compact.Message, text string) []byte {
	if m.Role == compact.Tool {
		return fmt.Appendf(dst, `{"answers":%q,"text":%q}`, m.Answers, text)
	}
	return fmt.Appendf(dst, `{"role":"%s","text":%q}`, m.Role, text)
}
func (itemsDialect) alone(*compact.Message) (before, after string) { return "", "" }
func (itemsDialect) keys(*compact.Message) (id, answers, content string) {
	return "call", "answers", "text"
}

// decodeItems reads a list in which a turn of the model is several elements, an
// element with blocks is several messages, and a result may follow later calls:
// {"think":…}, {"call":ID,"arguments":…}, {"answers":ID,"text":…},
// {"role":…,"text":…}, and {"blocks":[…]} of the last two. order is the order of the
// messages, nil: that of the list.
func decodeItems(body string, order ...int) *Request {
	d := newDocument([]byte(body), nil, itemsDialect{})
	at := func(v gjson.Result) span { return span{uint32(v.Index), uint32(v.Index + len(v.Raw))} }
	turn := -1 // message of the model that is being read
	var item func(v gjson.Result, in int32)
	item = func(v gjson.Result, in int32) {
		is := func(key string) bool { return v.Get(key).Exists() }
		if is("blocks") {
			e := d.open(v.Index, inList, withPieces)
			v.Get("blocks").ForEach(func(_, b gjson.Result) bool { item(b, e); return true })
			d.at = v.Index + len(v.Raw)
			d.close(e)
			return
		}
		if turn < 0 || !is("think") && !is("call") {
			d.begin()
			d.msgs[len(d.msgs)-1].Role, turn = compact.Assistant, len(d.msgs)-1
		}
		m, k := &d.msgs[len(d.msgs)-1], &d.marks[len(d.msgs)-1]
		stays := withMessage
		if is("call") {
			stays = withPieces
		}
		e := d.open(v.Index, in, stays)
		d.at = v.Index + len(v.Raw)
		d.close(e)
		text := v.Get("text")
		switch {
		case is("call"):
			d.addCall(compact.Call{ID: v.Get("call").String(), Arguments: compact.Plain(v.Get("arguments").String())},
				place{element: e, text: at(v.Get("arguments")), id: at(v.Get("call"))})
		case !is("think"):
			m.Role, _ = compact.RoleNamed(v.Get("role").String())
			if is("answers") {
				m.Role, m.Answers, k.answers = compact.Tool, v.Get("answers").String(), at(v.Get("answers"))
			}
			m.Shape, k.content, turn = compact.String, at(text), -1
			d.addPart(compact.Part{Text: compact.Plain(text.String())}, place{element: e, text: at(text)})
		}
		d.end(k)
	}
	gjson.Get(body, "list").ForEach(func(_, v gjson.Result) bool { item(v, inList); return true })
	if order != nil {
		msgs, marks := slices.Clone(d.msgs), slices.Clone(d.marks)
		for to, from := range order {
			d.msgs[to], d.marks[to] = msgs[from], marks[from]
			d.msgs[to].Origin = to
		}
	}
	d.attach()
	return &d.Request
}

// TestOneListManyPlaces: a message may be several elements of the client's list, an
// element several messages, and the list of messages may have another order.
func TestOneListManyPlaces(t *testing.T) {
	const body = `{"list": [ {"role":"user","text":"go"}, {"think":1} , {"call":"a","arguments":"{}"},{"call":"b", "arguments":{"x":1}},
 {"blocks":[ {"answers":"a","text":"A"}, {"answers":"b","text":"B"} , {"role":"user","text":"mind"}]} ,{"role":"assistant","text":"done"} ], "n":1}`
	added := compact.Message{Role: compact.Tool, Shape: compact.String, Answers: "b", Origin: compact.Added, Edited: true, Parts: []compact.Part{{Text: compact.Plain("none")}}}
	for name, c := range map[string]struct {
		edit func(m []compact.Message) []compact.Message
		want string
	}{
		"a message leaves an element that holds others": {
			func(m []compact.Message) []compact.Message { return slices.Delete(m, 4, 5) },
			`{"list": [ {"role":"user","text":"go"}, {"think":1} , {"call":"a","arguments":"{}"},{"call":"b", "arguments":{"x":1}},
 {"blocks":[ {"answers":"a","text":"A"}, {"answers":"b","text":"B"} ]} ,{"role":"assistant","text":"done"} ], "n":1}`,
		},
		"an element leaves with its last message": {
			func(m []compact.Message) []compact.Message { return slices.Delete(m, 1, 5) },
			`{"list": [ {"role":"user","text":"go"},{"role":"assistant","text":"done"} ], "n":1}`,
		},
		"a call leaves, and its element with it": {
			func(m []compact.Message) []compact.Message {
				m[1].Calls, m[1].Edited = m[1].Calls[:1], true
				return slices.Delete(m, 3, 4)
			},
			`{"list": [ {"role":"user","text":"go"}, {"think":1} , {"call":"a","arguments":"{}"},{"blocks":[ {"answers":"a","text":"A"} , {"role":"user","text":"mind"}]} ,{"role":"assistant","text":"done"} ], "n":1}`,
		},
		"pieces change within several elements": {
			func(m []compact.Message) []compact.Message {
				m[1].Calls = slices.Clone(m[1].Calls)
				m[1].Calls[0].ID, m[1].Calls[1].Arguments, m[1].Edited = "c", compact.Plain(`{"y":2}`), true
				m[2].Answers, m[2].Edited = "c", true
				m[3].Parts, m[3].Edited = []compact.Part{{Nth: 1, Text: compact.Plain("b")}}, true
				return m
			},
			`{"list": [ {"role":"user","text":"go"}, {"think":1} , {"call":"c","arguments":"{}"},{"call":"b", "arguments":{"y":2}},
 {"blocks":[ {"answers":"c","text":"A"}, {"answers":"b","text":"b"} , {"role":"user","text":"mind"}]} ,{"role":"assistant","text":"done"} ], "n":1}`,
		},
		"a call that is split off moves as its element": {
			func(m []compact.Message) []compact.Message {
				rest := compact.Message{Role: compact.Assistant, Calls: m[1].Calls[1:], Origin: 1, Edited: true, Rest: true}
				m[1].Calls, m[1].Edited = m[1].Calls[:1], true
				return []compact.Message{m[0], m[1], m[2], rest, m[5]}
			},
			`{"list": [ {"role":"user","text":"go"}, {"think":1} , {"call":"a","arguments":"{}"},{"blocks":[ {"answers":"a","text":"A"} ]},{"call":"b", "arguments":{"x":1}},{"role":"assistant","text":"done"} ], "n":1}`,
		},
		"what is added follows what it stands behind": {
			func(m []compact.Message) []compact.Message { return append(slices.Clone(m[:2]), m[5], added) },
			`{"list": [ {"role":"user","text":"go"}, {"think":1} , {"call":"a","arguments":"{}"},{"call":"b", "arguments":{"x":1}},{"role":"assistant","text":"done"},{"answers":"b","text":"none"} ], "n":1}`,
		},
		"what is not in its place among others gets an element to itself": {
			func(m []compact.Message) []compact.Message {
				return []compact.Message{m[0], m[1], m[4], m[2], m[3], m[5]}
			},
			`{"list": [ {"role":"user","text":"go"}, {"think":1} , {"call":"a","arguments":"{}"},{"call":"b", "arguments":{"x":1}},
 {"blocks":[ {"role":"user","text":"mind"}]},{"answers":"a","text":"A"},{"answers":"b","text":"B"},{"role":"assistant","text":"done"} ], "n":1}`,
		},
		"something added stands between two of one element": {
			func(m []compact.Message) []compact.Message {
				m[4].Parts, m[4].Edited = []compact.Part{{Nth: 1, Text: compact.Plain("!")}}, true
				return slices.Insert(slices.Delete(m, 3, 4), 3, added)
			},
			`{"list": [ {"role":"user","text":"go"}, {"think":1} , {"call":"a","arguments":"{}"},{"call":"b", "arguments":{"x":1}},
 {"blocks":[ {"answers":"a","text":"A"} ]},{"answers":"b","text":"none"},{"role":"user","text":"!"},{"role":"assistant","text":"done"} ], "n":1}`,
		},
		"an element of the list stands twice": {
			func(m []compact.Message) []compact.Message { return append(slices.Clone(m), m[0]) },
			"wire: message 6: an element of the list stands twice",
		},
	} {
		r := decodeItems(body)
		got, err := r.Encode(c.edit(slices.Clone(r.Conversation.Messages)))
		if err != nil {
			got = []byte(err.Error())
		}
		if string(got) != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}

	r := decodeItems(`{"list":[{"call":"a","arguments":""} ,{"role":"user","text":"wait"} , {"answers":"a","text":"A"},{"role":"user","text":"go on"}]}`, 0, 2, 1, 3)
	m := slices.Clone(r.Conversation.Messages)
	m[1].Parts, m[1].Edited = []compact.Part{{Nth: 1, Text: compact.Plain("short")}}, true
	const want = `{"list":[{"call":"a","arguments":""} ,{"role":"user","text":"wait"} , {"answers":"a","text":"short"},{"role":"user","text":"go on"}]}`
	if got, err := r.Encode(m); err != nil || string(got) != want {
		t.Errorf("a result that is paired with its call does not stay where it is (%v):\n%s\nwant\n%s", err, got, want)
	}
}
