package bpe_test

import (
	"fmt"

	"laconic/tokenize/bpe"
)

// Exact counts of a text, and its tokens.
func ExampleEncoding() {
	e := bpe.O200k()
	text := "Tokens are counted exactly, naïve Ünïcödé and 你好 included."
	fmt.Println(e.Name(), e.CountString(text), len(text))
	fmt.Println(e.AppendTokens(nil, []byte("hello world")))
	// Output:
	// o200k_base 16 67
	// [24912 2375]
}

// What looks like a special token is ordinary text.
func ExampleEncoding_Count() {
	fmt.Println(bpe.Cl100k().Count([]byte("<|endoftext|>")))
	// Output: 7
}
