package view

import (
	"embed"
	"regexp"
)

// Files are the scripts and the style that draw a request, below "static".
//
//go:embed static
var Files embed.FS

// Style returns the style sheet.
func Style() string { return text("style.css") }

// modules is what joins a script to others.
var modules = regexp.MustCompile(`(?m)^(import .*\n|export )`)

// Script returns one script of the scripts that draw a request and of one that uses
// them, for a page that is a single file.
func Script(by string) string {
	return modules.ReplaceAllString(text("draw.js")+text("request.js")+by, "")
}

func text(name string) string {
	raw, _ := Files.ReadFile("static/" + name) // it is part of the program
	return string(raw)
}
