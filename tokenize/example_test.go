package tokenize_test

import (
	"fmt"

	"laconic/tokenize"
)

// A request is counted piece by piece.
func Example() {
	c := tokenize.For("gpt-4o")
	total := c.Priming()
	total += c.Tools([]byte(`[{"type":"function","function":{"name":"ls"}}]`))
	total += c.Envelope() + c.Text("What is in this folder?")
	total += c.Envelope() + c.Call() + c.Text("ls") + c.Text(`{"path":"."}`)
	total += c.Envelope() + c.Text("README.md\nmain.go\n")
	fmt.Println(total, "tokens, exact:", c.Exact())
	// Output: 68 tokens, exact: true
}

// The family of a model decides how texts and pictures are counted.
func ExampleFor() {
	for _, model := range []string{"gpt-4o", "anthropic/claude-sonnet-4.5", "my-own-model"} {
		c := tokenize.For(model)
		fmt.Println(c.Family(), c.Name(), c.Text("Hello, world"))
	}
	// Output:
	// gpt-4o o200k_base 3
	// claude-4 o200k*1.35 5
	// unknown o200k*1.1+digits 4
}

// Another tokenizer for the texts; pictures still cost what the model's family says.
func ExampleCounter_Named() {
	c, _ := tokenize.For("gpt-4o-mini").Named("bytes/4")
	fmt.Println(c.Name(), c.Image("https://example.com/cat.png", "low"))
	// Output: bytes/4 2833
}

// The size of an inlined picture is read from its header; this one has 10 × 20 pixels.
func ExampleCounter_Image() {
	const dot = "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAoAAAAUCAAAAACRhfOK"
	c := tokenize.For("gpt-4o")
	fmt.Println(c.Image(dot, "high"), c.Image(dot, "low"), c.Image("https://example.com/cat.png", "high"))
	// Output: 255 85 1445
}

// The prompt limit of gpt-5 is below its window.
func ExampleWindow() {
	fmt.Println(tokenize.Window("gpt-5"))
	fmt.Println(tokenize.Window("my-own-model"))
	// Output:
	// 400000 272000 true
	// 0 0 false
}
