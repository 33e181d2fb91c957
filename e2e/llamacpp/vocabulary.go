package llamacpp

import (
	"encoding/binary"
	"fmt"
	"os"
)

// A Vocabulary is how a model makes tokens of a text.
type Vocabulary struct {
	entries []entry
	tokens  [][]byte // each with its length before it
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
	marks := []string{"<|endoftext|>", "<|im_start|>", "<|im_end|>"}
	for i := range 100_352 - len(tokens) { // as DBRX, OLMo 2 and Phi-4 have
		name := fmt.Sprintf("<|extra_%d|>", i)
		if i < len(marks) {
			name = marks[i]
		}
		tokens, kinds = append(tokens, text(name)), append(kinds, number(tokenControl))
	}
	// The model dbrx splits texts as cl100k_base does.
	return &Vocabulary{bpeEntries("dbrx", tokens, kinds, merges, end+2), tokens}, nil
}

// bpeEntries returns the keys of a vocabulary with merges. splits is llama.cpp's name
// for how texts are split first, end the token that ends an answer.
func bpeEntries(splits string, tokens, kinds, merges [][]byte, end uint32) []entry {
	return []entry{
		{"tokenizer.ggml.model", typeString, text("gpt2")},
		{"tokenizer.ggml.pre", typeString, text(splits)},
		{"tokenizer.ggml.tokens", typeArray, list(typeString, tokens)},
		{"tokenizer.ggml.token_type", typeArray, list(typeInt32, kinds)},
		{"tokenizer.ggml.merges", typeArray, list(typeString, merges)},
		{"tokenizer.ggml.bos_token_id", typeUint32, number(end)},
		{"tokenizer.ggml.eos_token_id", typeUint32, number(end)},
	}
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
