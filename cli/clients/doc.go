// Package clients is the table of programs and libraries that talk to the proxy: what
// each of them has to be told, and how one is started so that it talks to a proxy on
// a port that was free.
//
// It promises:
//
//   - one table: docs/clients shows the settings of [Table], word for word.
//   - nothing of the user's is written: a program that is started is told by its
//     environment, its arguments and files of its own.
//   - the user's own words last: what a command line says already is not said again.
package clients

import (
	"path"
	"path/filepath"
	"strings"
)

// The address and the model that the settings of the table name, as the pages do.
const (
	ShownOrigin = "http://127.0.0.1:7280"
	ShownModel  = "qwen3-coder"
)

// Believed is the window that a client is told where the proxy compacts for it, so
// that it never does so itself.
const Believed = 1_000_000

// Client is a row of the table.
type Client struct {
	Name     string // as in laconic env NAME
	Title    string // as its page and the list of pages call it
	Version  string // that was tested
	Endpoint string
	Page     string // in docs/clients
	// Programs are the names of its commands; none: it is a library.
	Programs []string
	Blocks   []Block
	// Advice is what to do about the window that it compacts by itself near, in a
	// sentence; "": it has no such setting, or no such habit.
	Advice string
	// Upstream is where its requests go if nobody configured one; "": to the
	// default of the configuration.
	Upstream string
	// wantsModel: its command has to be told a model.
	wantsModel bool
	// start says what its command is started with; nil: with its variables alone.
	// The error says why it is not told of the proxy.
	start func(Given, *Started) error
}

// Block is a piece of settings.
type Block struct {
	Where    string // a file, "shell", or the language of a program
	Language string // of the fence on its page
	Text     string // for ShownOrigin and ShownModel
}

// For returns the text of a block for another address and another model.
func (b Block) For(origin, model string) string {
	return strings.NewReplacer(ShownOrigin, origin, ShownModel, model).Replace(b.Text)
}

// Named returns the row of a name, or nil.
func Named(name string) *Client {
	for i := range Table {
		if Table[i].Name == name {
			return &Table[i]
		}
	}
	return nil
}

// Names are those of the table, in its order.
func Names() (all []string) {
	for i := range Table {
		all = append(all, Table[i].Name)
	}
	return all
}

// OfCommand returns the row of a command, which may be a path, or nil.
func OfCommand(command string) *Client {
	name := strings.ToLower(path.Base(filepath.ToSlash(command)))
	for _, end := range []string{".exe", ".cmd", ".bat", ".ps1"} {
		name = strings.TrimSuffix(name, end)
	}
	for i := range Table {
		for _, p := range Table[i].Programs {
			if p == name {
				return &Table[i]
			}
		}
	}
	return nil
}
