package bpe_test

import (
	"fmt"

	"laconic/tokenize/bpe"
)

// The exact count of a text.
func ExampleEncoding() {
	e := bpe.O200k()
	text := "Tokens are counted exactly, naïve Ünïcödé and 你好 included."
	fmt.Println("o200k_base", e.Count([]byte(text)), len(text))
	// Output:
	// o200k_base 16 67
}
