package llamacpp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"
)

// said is the word that a model says.
const said = "ok"

// A Vocabulary is how a model makes tokens of a text.
type Vocabulary struct {
	entries []entry
	size    int
	word    int // the token of said
}

// Of a token's kinds in GGUF.
const (
	tokenNormal  = 1
	tokenControl = 3
)

// Cl100k returns OpenAI's vocabulary of that name, of the file that tokenize/bpe has
// it in: the 256 bytes, and behind them the two parts of each token.
func Cl100k(file string) (*Vocabulary, error) {
	raw, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	const single = 256
	var names []string
	var merges [][]byte
	for _, b := range raw[:single] {
		names = append(names, letters[b])
	}
	for at := raw[single:]; len(at) >= 5; at = at[5:] {
		both := uint64(binary.LittleEndian.Uint32(at)) | uint64(at[4])<<32
		left, right := names[both&0xFFFFF], names[both>>20]
		names = append(names, left+right)
		merges = append(merges, text(left+" "+right))
	}
	var tokens, kinds [][]byte
	for _, name := range names {
		tokens, kinds = append(tokens, text(name)), append(kinds, number(tokenNormal))
	}
	end := uint32(len(tokens))
	for _, name := range []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"} {
		tokens, kinds = append(tokens, text(name)), append(kinds, number(tokenControl))
	}
	v := &Vocabulary{entries: []entry{
		{"tokenizer.ggml.model", typeString, text("gpt2")},
		{"tokenizer.ggml.pre", typeString, text("dbrx")}, // which splits texts as cl100k_base does
		{"tokenizer.ggml.tokens", typeArray, list(typeString, tokens)},
		{"tokenizer.ggml.token_type", typeArray, list(typeInt32, kinds)},
		{"tokenizer.ggml.merges", typeArray, list(typeString, merges)},
		{"tokenizer.ggml.bos_token_id", typeUint32, number(end)},
		{"tokenizer.ggml.eos_token_id", typeUint32, number(end + 2)},
	}}
	return v, v.read(tokens)
}

// letters are the characters by which GPT-2's tokenizers write bytes: printable ones
// stand for themselves.
var letters = func() (all [256]string) {
	next := rune(256)
	for b := range all {
		r := rune(b)
		if b < '!' || b > '~' && b < '¡' || b > '¬' && b < '®' {
			r, next = next, next+1
		}
		all[b] = string(r)
	}
	return all
}()

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
	var tokens [][]byte
	for range r.long() {
		key, kind := string(r.text()), r.number()
		before := r.rest
		all := r.value(kind)
		if strings.HasPrefix(key, "tokenizer.ggml.") {
			v.entries = append(v.entries, entry{key, kind, before[:len(before)-len(r.rest)]})
		}
		if key == "tokenizer.ggml.tokens" {
			tokens = all
		}
	}
	if r.short {
		return nil, fmt.Errorf("%s ends too early", file)
	}
	return v, v.read(tokens)
}

// read takes in the tokens, each with its length before it.
func (v *Vocabulary) read(tokens [][]byte) error {
	v.size = len(tokens)
	for i, token := range tokens {
		if bytes.Equal(token, text(said)) {
			v.word = i
			return nil
		}
	}
	return errors.New("no token is " + said)
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
