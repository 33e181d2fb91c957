package main

import (
	"math/rand/v2"
	"strings"
)

// hostileTexts are what a client may send to buy time.
var hostileTexts = []struct {
	name string
	make func(size int) string
}{
	{"one letter", repeated("a")},
	{"spaces", repeated(" ")},
	{"newlines", repeated("\n")},
	{"31 spaces and a newline", repeated(strings.Repeat(" ", 31) + "\n")},
	{"random blanks", random(" \t\n\r")},
	{"one word, repeated", repeated("antidisestablishmentarianism")},
	{"random letters, one word", random("abcdefghijklmnopqrstuvwxyz")},
	{"two letters, one word", random("ab")},
	{"base64", random("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")},
	{"random signs", random("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")},
	{"emoji families", repeated("👩‍👩‍👧‍👦")},
	{"random emoji", random("😀😁😂🤣😃😄😅😆😉😊😋😎😍😘🥰😗😙😚🙂🤗🤩🤔")},
	{"Chinese without a stop", random("的一是不了人我在有他这中大来上国个到说们为子和你地出道也时年得就那要下以生会自着去之过家学对可她里后")},
	{"a word, blanks, repeated", repeated(" appointments\t   ")},
	{"a slash, dashes, repeated", repeated("/----")},
	{"bytes that are no text", repeated("\xff\xe4\xb8\x80\x80")},
}

func repeated(s string) func(int) string {
	return func(size int) string { return strings.Repeat(s, size/len(s)) }
}

func random(letters string) func(int) string {
	of := []rune(letters)
	return func(size int) string {
		r := rand.New(rand.NewPCG(10, 10))
		var b strings.Builder
		for b.Len() < size {
			b.WriteRune(of[r.IntN(len(of))])
		}
		return b.String()
	}
}
