// Package pages holds the pages of clients. Their settings are what laconic env prints.
package pages

import "embed"

// Files are the pages and their list, README.md.
//
//go:embed *.md
var Files embed.FS
