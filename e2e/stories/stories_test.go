package stories

import (
	"flag"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"laconic/e2e/rig"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestStories runs the stories of testdata/script: each a few sentences on what
// a user of the proxy sees, and the commands that show it, against the real
// binary. What the commands do stands in the files beside this one.
func TestStories(t *testing.T) {
	t.Parallel()
	all := maps.Clone(negatable)
	for name, do := range commands {
		all[name] = func(ts *testscript.TestScript, neg bool, args []string) {
			if neg {
				ts.Fatalf("%s cannot be negated", name)
			}
			do(ts, args)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script", Cmds: all, Setup: begin, UpdateScripts: *update,
		RequireExplicitExec: true, RequireUniqueNames: true,
	})
}

// commands are those of the stories that have no opposite.
var commands = map[string]func(ts *testscript.TestScript, args []string){
	"upstream": startUpstream, "seen": seenUpstream, "answered": answeredUpstream, "total": totalUpstream,
	"proxy": startProxy, "signal": signalProxy, "exits": exitsProxy, "gone": goneProxy,
	"stall": stall, "turns": turns,
	"open": openCommand, "headers": headersCommand, "more": moreCommand, "finish": finishCommand, "ends": endsCommand, "breaks": breaksCommand, "leave": leaveCommand,
	"bytes": writeBytes, "long": writeLong,
	"summarizer": startSummarizer, "asked": askedSummarizer, "redis": startRedis,
}

// negatable are the others; neg is true behind a "!".
var negatable = map[string]func(ts *testscript.TestScript, neg bool, args []string){
	"post": post, "logline": logLine, "holds": holdsParts,
}

// story is what one script has running.
type story struct {
	tb        testing.TB
	upstreams map[string]*upstream // by name
	launched  []*upstream          // all of them: a name may have been given twice
	proxy     *rig.Laconic
	client    *http.Client // of the requests
	stream    *openStream  // that the script has open

	summarizer *summarizer // nil: none was started
}

type storyKey struct{}

func begin(env *testscript.Env) error {
	path, err := rig.Path()
	if err != nil {
		return err
	}
	env.Setenv("PATH", filepath.Dir(path)+string(filepath.ListSeparator)+env.Getenv("PATH"))
	example, err := filepath.Abs("../../config.example.yaml")
	if err != nil {
		return err
	}
	env.Setenv("EXAMPLE", example)
	s := &story{tb: env.T().(testing.TB), client: newClient(), upstreams: map[string]*upstream{}}
	env.Values[storyKey{}] = s
	env.Defer(s.end)
	return nil
}

// end stops what still runs. A proxy that does not end by itself when it is
// told to fails its story.
func (s *story) end() {
	if s.stream != nil {
		s.stream.close()
	}
	for _, u := range s.launched {
		u.release()
	}
	s.client.CloseIdleConnections()
	if s.proxy != nil {
		s.proxy.Stop(s.tb)
	}
	for _, u := range s.launched {
		u.close()
	}
}

var update = flag.Bool("update", false, "rewrite what the stories show")

// TestMain fails the tests when they left a goroutine behind.
func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }

func storyOf(ts *testscript.TestScript) *story { return ts.Value(storyKey{}).(*story) }

// flags parses the flags of a command and checks the number of what is left.
func flags(ts *testscript.TestScript, args []string, least, most int, define func(*flag.FlagSet)) []string {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	if define != nil {
		define(f)
	}
	ts.Check(f.Parse(args))
	if n := f.NArg(); n < least || n > most {
		ts.Fatalf("%d arguments in %q, want %d to %d", n, strings.Join(f.Args(), " "), least, most)
	}
	return f.Args()
}

// several is a flag that may stand more than once.
type several []string

func (s *several) String() string { return strings.Join(*s, ", ") }

func (s *several) Set(v string) error {
	*s = append(*s, v)
	return nil
}
