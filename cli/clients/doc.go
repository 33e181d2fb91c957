// Package clients is the table of programs and libraries that talk to the proxy: what
// each of them has to be told, and how one is started so that it talks to a proxy on
// a port that was free.
//
// It promises:
//
//   - one text: the settings are those of the pages in docs/clients.
//   - nothing of the user's is written: a program that is started is told by its
//     environment, its arguments and files of its own.
//   - the user's own words last: what a command line says already is not said again.
package clients

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The address and the model that the settings of the pages name.
const (
	shownOrigin = "http://127.0.0.1:7280"
	ShownModel  = "qwen3-coder"
)

// believed is the window that a client is told where the proxy compacts for it, so
// that it never does so itself.
const believed = 1_000_000

// Client is a row of the table.
type Client struct {
	Name     string // as in laconic env NAME; that of its page in docs/clients
	Title    string // as its page calls it
	Version  string // that was tested
	Endpoint string
	Window   string // what to set its window to, in words
	program
}

// program says how the command of a client is started. The zero value is that of a library.
type program struct {
	commands []string
	// Advice is what to do about the window that it compacts by itself near, in a
	// sentence; "": it has no such setting, or no such habit.
	Advice string
	// Upstream is where its requests go if nobody configured one; "": to the
	// default of the configuration.
	Upstream   string
	wantsModel bool // it has to be told a model
	// start says what its command is started with; nil: with its variables alone.
	// The error says why it is not told of the proxy.
	start func(Given, *Started) error
}

// row returns the first row that is meant, or nil.
func row(is func(c Client) bool) *Client {
	if i := slices.IndexFunc(Table, is); i >= 0 {
		return &Table[i]
	}
	return nil
}

// Named returns the row of a name, or nil.
func Named(name string) *Client { return row(func(c Client) bool { return c.Name == name }) }

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
	return row(func(c Client) bool { return slices.Contains(c.commands, name) })
}
