package clients

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Given is what is known where a program is started.
type Given struct {
	Base string // of the proxy, which ends in /v1
	// Key is the one that the proxy wants; "": it wants none. AnyKey says that the
	// upstream wants none of the program either, though most do not start without one.
	Key    string
	AnyKey bool
	// Elsewhere says that the upstream is another than the program's own.
	Elsewhere bool
	// Model is the one to use; "": the program's own choice, of Models. Chosen says
	// that it was named for this run, and not by the configuration.
	Model  string
	Chosen bool
	// List returns the models that the upstream lists; none: it lists none.
	List   func() []string
	Args   []string // of the program, as the user wrote them
	Lookup func(name string) (string, bool)
	// File writes a file that lives as long as the program, and returns its path.
	File func(name, text string) (path string, err error)
}

// has reports whether the user's own arguments have one of the flags.
func (g Given) has(flags ...string) bool {
	for _, arg := range g.Args {
		name, _, _ := strings.Cut(arg, "=")
		if arg == "--" {
			return false
		}
		if slices.Contains(flags, name) {
			return true
		}
	}
	return false
}

// set reports whether one of the variables holds something.
func (g Given) set(variables ...string) bool {
	return slices.ContainsFunc(variables, func(name string) bool { v, _ := g.Lookup(name); return v != "" })
}

// anyKey is the key where every word is one.
const anyKey = "none"

// key returns the key that the program uses, or "".
func (g Given) key() string {
	own, _ := g.Lookup("OPENAI_API_KEY")
	switch {
	case g.Key != "":
		return g.Key
	case own == "" && g.AnyKey:
		return anyKey
	}
	return own
}

// origin is the base without its /v1.
func (g Given) origin() string { return strings.TrimSuffix(g.Base, "/v1") }

// all are the models that a program can be told of: the chosen one, and those that
// the upstream lists.
func (g Given) all() []string {
	listed := g.List()
	if g.Model == "" || slices.Contains(listed, g.Model) {
		return listed
	}
	return append([]string{g.Model}, listed...)
}

// Started is what a program is started with.
type Started struct {
	Env  map[string]string // over the environment that it would have
	Args []string          // before the user's own
	// Say is what the user should know, or has to do, in a sentence each.
	Say []string
}

// Start returns what a program is started with. c is nil for one that the table does
// not know: it gets the variables that libraries read.
func Start(c *Client, g Given) Started {
	s := Started{Env: map[string]string{}}
	if key := g.key(); g.Key != "" || key == anyKey {
		s.Env["OPENAI_API_KEY"] = key
	}
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_BASE"} { // of OpenAI's SDKs and LangChain
		s.Env[name] = g.Base
	}
	if c == nil {
		return s
	}
	if c.wantsModel && g.Model == "" {
		if all := g.List(); len(all) == 1 {
			g.Model = all[0]
		}
	}
	if c.start != nil {
		if err := c.start(g, &s); err != nil {
			s.say("%s is not told of the proxy: %v", c.Title, err)
		}
	}
	return s
}

func (s *Started) say(format string, args ...any) {
	s.Say = append(s.Say, fmt.Sprintf(format, args...))
}

// Why a program is not told of the proxy.
var (
	errNoModel   = errors.New("it needs the name of a model: laconic run --model NAME -- …")
	errOwnChoice = errors.New("its arguments name its own choice")
)

// arg adds a flag and its value, unless the user's own arguments have the flag or one of
// its other names.
func (s *Started) arg(g Given, value, flag string, others ...string) {
	if !g.has(append(others, flag)...) {
		s.Args = append(s.Args, flag, value)
	}
}
