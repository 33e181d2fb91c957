package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"laconic/cli/findings"
	"laconic/config"
	"laconic/proxy"
	"laconic/proxy/why"
	"laconic/store"
)

type finding = why.Finding

// patient is the set-up that the doctor examines.
type patient struct {
	*config.Config
	options  proxy.Options
	probe    bool
	patience time.Duration // for the answer to a probe
	model    string        // to probe; "": the first that is known
	seen     []upstream
}

// checks are made in this order, if the configuration is valid.
var checks = []struct {
	name string
	run  func(context.Context, *patient) []finding
}{
	{"configuration", func(_ context.Context, p *patient) []finding {
		return findings.Of(findings.Facts{Config: p.Config})
	}},
	{"upstream", checkUpstreams},
	{"store", checkStore},
	{"windows", checkWindows},
	{"stream", checkStream},
	{"traffic", checkTraffic},
}

const (
	exitWarnings = 1
	exitFailures = 2
)

func doctorCommand() *cobra.Command {
	var s settings
	var p patient
	var jsonOut bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "look for what is wrong with a set-up, and say what would fix it",
		Long: "Examines the configuration, the upstreams, and the proxy that runs on the admin address.\n" +
			"It asks upstreams for their lists of models, which costs nothing, with OPENAI_API_KEY in\n" +
			"place of the key of clients. A Redis is asked for everything that it is used for.\n\n" +
			"Exit code 0: all is well. 1: there are warnings. 2: something fails.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := s.load(cmd)
			var all []finding
			for _, problem := range config.ProblemsOf("", err) {
				fix := cmp.Or(problem.Hint, "laconic check shows the place")
				problem.Hint = ""
				all = append(all, finding{Check: "configuration", State: why.Failure, Says: problem.Error(), Fix: fix})
			}
			if err == nil {
				p.Config, p.options = c, proxyOptions(c)
				all = p.examine(cmd.Context())
			}
			if jsonOut {
				err = printJSON(cmd.OutOrStdout(), all)
			} else {
				err = printFindings(cmd.OutOrStdout(), all)
			}
			code := 0
			for _, f := range all {
				code = max(code, map[why.State]int{why.Warning: exitWarnings, why.Failure: exitFailures}[f.State])
			}
			if err == nil && code != 0 {
				err = exitError(code)
			}
			return err
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&jsonOut, "json", false, "print the findings as JSON")
	cmd.Flags().BoolVar(&p.probe, "probe", false, "also make one small call, which may cost a fraction of a cent")
	cmd.Flags().DurationVar(&p.patience, "timeout", 30*time.Second, "how long to wait for the answer of that call: a local model may have to be loaded")
	cmd.Flags().StringVar(&p.model, "model", "", "`MODEL` of that call (default: the first that the configuration or the upstream names)")
	return cmd
}

// examine makes all checks.
func (p *patient) examine(ctx context.Context) (all []finding) {
	p.seen = p.upstreams(ctx)
	for _, c := range checks {
		for _, f := range c.run(ctx, p) {
			f.Check = cmp.Or(f.Check, c.name)
			if !slices.ContainsFunc(all, func(said finding) bool { return f.Bad() && said.Says == f.Says }) {
				all = append(all, f)
			}
		}
	}
	return all
}

func printFindings(w io.Writer, all []finding) error {
	text := ""
	for _, f := range all {
		text += fmt.Sprintf("%-9s  %-13s  %s\n", f.State, f.Check, f.Says)
		if f.Fix != "" {
			text += fmt.Sprintf("%11sfix: %s\n", "", f.Fix)
		}
	}
	_, err := io.WriteString(w, text)
	return err
}

// clientKey returns the key that stands for those of clients.
func clientKey() string { return os.Getenv("OPENAI_API_KEY") }

// checkTraffic returns what the proxy that runs on the admin address has found in its
// traffic, without what the doctor has asked itself.
func checkTraffic(ctx context.Context, p *patient) (all []finding) {
	if p.Admin == "" {
		return []finding{{State: why.Unknown, Says: "admin is off, so that nobody tells what the proxy sees"}}
	}
	says, err := askAdmin(ctx, p.Config, findingsPath, doctorTime)
	if err == nil {
		err = json.Unmarshal([]byte(says), &all)
	}
	if _, absent := errors.AsType[*net.OpError](err); absent {
		return []finding{{State: why.Unknown, Says: "no running proxy at " + clientAddress(p.Admin)}}
	} else if err != nil {
		return []finding{{State: why.Unknown, Says: "the running proxy does not say: " + err.Error()}}
	}
	own := runningWith(p.Config)
	for i := range all {
		if f := &all[i]; f.Check == "running" && !strings.HasSuffix(f.Says, own) {
			f.State, f.Says = why.Warning, fmt.Sprintf("the proxy at %s is another set-up's: %s, and not %s", clientAddress(p.Admin), f.Says, own)
			f.Fix = "examine that one with laconic doctor -c FILE, or start this one with an admin address of its own"
		}
	}
	return slices.DeleteFunc(all, func(f finding) bool { return slices.Contains([]string{"configuration", "upstream", "store"}, f.Check) })
}

// runningWith returns with which configuration this program runs.
func runningWith(c *config.Config) string {
	before := "in front of " + config.ShownURL(c.Upstream) + ", "
	if c.File == "" {
		return before + "without a configuration file"
	}
	path, _ := filepath.Abs(c.File) // "" where this folder is gone
	return before + "with " + cmp.Or(path, c.File)
}

// checkStore asks a store that processes share for everything that it is used for.
func checkStore(ctx context.Context, p *patient) []finding {
	if p.Store.Kind != store.InRedis {
		return nil
	}
	faults, err := store.Try(ctx, storeOptions(p.Config, func(string) {}))
	if err != nil {
		return []finding{{State: why.Failure, Says: err.Error(), Fix: "laconic check says more"}}
	}
	return findings.Of(findings.Facts{Store: &findings.Store{Where: store.ShownURL(p.Store.URL), Faults: faults}})
}
