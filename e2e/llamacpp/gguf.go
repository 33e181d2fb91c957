package llamacpp

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
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

// tensor is a matrix, or a vector of ones.
type tensor struct {
	name    string
	columns uint64
	rows    uint64 // 0: a vector
}

// layout returns the type of the numbers, and how many bytes they take with what aligns
// the next.
func (t tensor) layout() (kind uint32, size uint64) {
	if t.rows == 0 {
		return tensorFloat32, aligned(4 * t.columns)
	}
	return tensorFloat16, aligned(2 * t.columns * t.rows)
}

func aligned(n uint64) uint64 { return (n + alignment - 1) / alignment * alignment }

// Write writes a model with a vocabulary, which was trained for prompts of so many
// tokens. It says one word.
func Write(file string, v *Vocabulary, window int) error {
	floats := func(f float32) []byte { return number(math.Float32bits(f)) }
	entries := append([]entry{
		{"general.architecture", typeString, text("llama")},
		{"general.name", typeString, text("test")},
		{"llama.context_length", typeUint32, number(uint32(window))},
		{"llama.embedding_length", typeUint32, number(width)},
		{"llama.block_count", typeUint32, number(1)},
		{"llama.feed_forward_length", typeUint32, number(hidden)},
		{"llama.attention.head_count", typeUint32, number(1)},
		{"llama.attention.layer_norm_rms_epsilon", typeFloat32, floats(1e-5)},
		{"llama.rope.dimension_count", typeUint32, number(width)},
		{"llama.vocab_size", typeUint32, number(uint32(v.size))},
	}, v.entries...)
	tensors := []tensor{
		{"token_embd.weight", width, uint64(v.size)},
		{"output.weight", width, uint64(v.size)},
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
		kind, size := t.layout()
		head = binary.LittleEndian.AppendUint64(append(head, number(kind)...), uint64(len(numbers)))
		own := t.numbers(v)
		numbers = append(append(numbers, own...), make([]byte, size-uint64(len(own)))...) // the rest is zero
	}
	head = append(head, make([]byte, aligned(uint64(len(head)))-uint64(len(head)))...)
	return os.WriteFile(file, append(head, numbers...), 0o666)
}

// numbers are those of a tensor up to the last that is not zero. The first number of
// every token is one, all that the network adds is zero, and only the row of one token
// looks at the first number.
func (t tensor) numbers(v *Vocabulary) []byte {
	one := []byte{0x00, 0x3C} // as a float16
	switch {
	case t.rows == 0:
		return bytes.Repeat(number(math.Float32bits(1)), int(t.columns))
	case t.name == "token_embd.weight":
		return bytes.Repeat(append(one, make([]byte, 2*width-2)...), int(t.rows))
	case t.name == "output.weight":
		return append(make([]byte, 2*width*v.word), one...)
	}
	return nil
}
