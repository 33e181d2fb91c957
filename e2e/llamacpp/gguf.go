package llamacpp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"os"
	"slices"
)

// A file in GGUF is a list of keys with values, a list of tensors, and their numbers.
// github.com/ggml-org/ggml, docs/gguf.md, describes it. All numbers are little-endian.
const (
	magic   = "GGUF"
	version = 3

	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeString  = 8
	typeArray   = 9

	tensorFloat32 = 0
	tensorFloat16 = 1

	alignment = 32
)

// entry is a key with its value, as it is written.
type entry struct {
	key   string
	kind  uint32
	value []byte
}

func text(s string) []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(len(s))), s...)
}

func number(n uint32) []byte { return binary.LittleEndian.AppendUint32(nil, n) }

func list(kind uint32, values [][]byte) []byte {
	b := binary.LittleEndian.AppendUint64(number(kind), uint64(len(values)))
	return append(b, bytes.Join(values, nil)...)
}

// The size of the network: as small as llama.cpp takes it.
const (
	width  = 32
	hidden = 64
)

// tensor is a matrix, or a vector of ones. Its numbers take a multiple of alignment, for
// columns do.
type tensor struct {
	name    string
	columns uint64
	rows    uint64 // 0: a vector
}

// Write writes a model with a vocabulary, which was trained for prompts of so many
// tokens. It says one word.
func Write(file string, v *Vocabulary, window int) error {
	const word = "ok"
	said := slices.IndexFunc(v.tokens, func(token []byte) bool { return bytes.Equal(token, text(word)) })
	if said < 0 {
		return errors.New("no token is " + word)
	}
	entries := append([]entry{
		{"general.architecture", typeString, text("llama")},
		{"general.name", typeString, text("test")},
		{"llama.context_length", typeUint32, number(uint32(window))},
		{"llama.embedding_length", typeUint32, number(width)},
		{"llama.block_count", typeUint32, number(1)},
		{"llama.feed_forward_length", typeUint32, number(hidden)},
		{"llama.attention.head_count", typeUint32, number(1)},
		{"llama.attention.layer_norm_rms_epsilon", typeFloat32, number(math.Float32bits(1e-5))},
		{"llama.rope.dimension_count", typeUint32, number(width)},
		{"llama.vocab_size", typeUint32, number(uint32(len(v.tokens)))},
	}, v.entries...)
	tensors := []tensor{
		{"token_embd.weight", width, uint64(len(v.tokens))},
		{"output.weight", width, uint64(len(v.tokens))},
		{"output_norm.weight", width, 0},
		{"blk.0.attn_norm.weight", width, 0},
		{"blk.0.attn_q.weight", width, width},
		{"blk.0.attn_k.weight", width, width},
		{"blk.0.attn_v.weight", width, width},
		{"blk.0.attn_output.weight", width, width},
		{"blk.0.ffn_norm.weight", width, 0},
		{"blk.0.ffn_gate.weight", width, hidden},
		{"blk.0.ffn_up.weight", width, hidden},
		{"blk.0.ffn_down.weight", hidden, width},
	}

	head := append([]byte(magic), number(version)...)
	head = binary.LittleEndian.AppendUint64(head, uint64(len(tensors)))
	head = binary.LittleEndian.AppendUint64(head, uint64(len(entries)))
	for _, e := range entries {
		head = append(append(append(head, text(e.key)...), number(e.kind)...), e.value...)
	}
	var numbers []byte
	for _, t := range tensors {
		dims := []uint64{t.columns, t.rows}
		if t.rows == 0 {
			dims = dims[:1]
		}
		head = append(append(head, text(t.name)...), number(uint32(len(dims)))...)
		for _, d := range dims {
			head = binary.LittleEndian.AppendUint64(head, d)
		}
		kind, own := t.numbers(said)
		head = binary.LittleEndian.AppendUint64(append(head, number(kind)...), uint64(len(numbers)))
		numbers = append(numbers, own...)
	}
	head = append(head, make([]byte, (alignment-len(head)%alignment)%alignment)...)
	return os.WriteFile(file, append(head, numbers...), 0o666)
}

// numbers are those of a tensor, and their type. The first number of every token is one,
// all that the network adds is zero, and only the row of the token said looks at the first
// number.
func (t tensor) numbers(said int) (kind uint32, all []byte) {
	if t.rows == 0 {
		return tensorFloat32, bytes.Repeat(number(math.Float32bits(1)), int(t.columns))
	}
	one := []byte{0x00, 0x3C} // as a float16
	all = make([]byte, 2*t.columns*t.rows)
	switch t.name {
	case "token_embd.weight":
		for at := 0; at < len(all); at += 2 * width {
			copy(all[at:], one)
		}
	case "output.weight":
		copy(all[2*width*said:], one)
	}
	return tensorFloat16, all
}
