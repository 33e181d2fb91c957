package llamacpp

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"

	"github.com/tidwall/gjson"
)

// FromGGUF returns the vocabulary of a file in GGUF.
func FromGGUF(file string) (*Vocabulary, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r := reader{rest: raw}
	if string(r.next(4)) != magic {
		return nil, fmt.Errorf("%s is no file in GGUF", file)
	}
	r.number()
	r.long()
	v := &Vocabulary{}
	for range r.long() {
		key, kind := string(r.text()), r.number()
		before := r.rest
		all := r.value(kind)
		if strings.HasPrefix(key, "tokenizer.ggml.") {
			v.entries = append(v.entries, entry{key, kind, before[:len(before)-len(r.rest)]})
		}
		if key == "tokenizer.ggml.tokens" {
			v.tokens = all
		}
	}
	if r.short {
		return nil, fmt.Errorf("%s ends too early", file)
	}
	return v, nil
}

// FromJSON returns the vocabulary of a tokenizer.json, whose texts llama.cpp splits by
// a rule that it names, with as many tokens as its models have in GGUF.
func FromJSON(file, splits string, size int) (*Vocabulary, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var tokens, kinds, merges [][]byte
	add := func(id int64, name string, kind uint32) {
		for int64(len(tokens)) <= id {
			tokens, kinds = append(tokens, text("")), append(kinds, number(tokenControl))
		}
		tokens[id], kinds[id] = text(name), number(kind)
	}
	for name, id := range gjson.GetBytes(raw, "model.vocab").Map() {
		add(id.Int(), name, tokenNormal)
	}
	for _, t := range gjson.GetBytes(raw, "added_tokens").Array() {
		add(t.Get("id").Int(), t.Get("content").String(), tokenControl)
	}
	for id := len(tokens); id < size; id++ {
		add(int64(id), fmt.Sprintf("[PAD%d]", id), tokenControl)
	}
	for _, m := range gjson.GetBytes(raw, "model.merges").Array() {
		merges = append(merges, text(m.String()))
	}
	return &Vocabulary{bpeEntries(splits, tokens, kinds, merges, 1), tokens}, nil
}

// reader reads a file in GGUF.
type reader struct {
	rest  []byte
	short bool
}

func (r *reader) next(n uint64) []byte {
	if n > uint64(len(r.rest)) {
		r.short, n = true, 0
		return make([]byte, 8)
	}
	b := r.rest[:n]
	r.rest = r.rest[n:]
	return b
}

func (r *reader) number() uint32 { return binary.LittleEndian.Uint32(r.next(4)) }
func (r *reader) long() uint64   { return binary.LittleEndian.Uint64(r.next(8)) }
func (r *reader) text() []byte   { return r.next(r.long()) }

// sizes are the bytes of values of one size, by their kinds.
var sizes = map[uint32]uint64{0: 1, 1: 1, 2: 2, 3: 2, typeUint32: 4, typeInt32: 4, typeFloat32: 4, 7: 1, 10: 8, 11: 8, 12: 8}

// value passes over a value. It returns what is in a list of texts.
func (r *reader) value(kind uint32) (texts [][]byte) {
	switch kind {
	case typeString:
		r.text()
	case typeArray:
		kind, n := r.number(), r.long()
		if kind != typeString {
			r.next(n * sizes[kind])
			break
		}
		for range n {
			if r.short {
				break
			}
			texts = append(texts, text(string(r.text())))
		}
	default:
		r.next(sizes[kind])
	}
	return texts
}
