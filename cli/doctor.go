package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"laconic/cli/findings"
	"laconic/config"
	"laconic/proxy"
)

type (
	finding = findings.Finding
	state   = findings.State
)

const (
	fine    = findings.Fine
	warning = findings.Warning
	failure = findings.Failure
	unknown = findings.Unknown
)

// patient is what the doctor examines.
type patient struct {
	*config.Config
	problems error // of the configuration; all else is then not checked
	options  proxy.Options
	client   *http.Client
	key      string // of clients: OPENAI_API_KEY
	probe    bool
	patience time.Duration // for the answer to a probe
	model    string        // to probe; "": the first that is known
	now      func() time.Time

	asked map[string]listAnswer // upstreams' lists of models, by base URL
}

// check is a row of the table of checks.
type check struct {
	name string
	run  func(context.Context, *patient) []finding
}

// checks are made in this order. Those behind the first need a valid configuration.
var checks = []check{
	{"configuration", checkConfiguration},
	{"upstream", checkUpstreams},
	{"store", checkStore},
	{"clock", checkClock},
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
	var jsonOut, probe bool
	var model string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "look for what is wrong with a set-up, and say what would fix it",
		Long: "Examines the configuration, the upstreams, and the proxy that runs on the admin address.\n" +
			"It asks upstreams for their lists of models, which costs nothing; OPENAI_API_KEY stands\n" +
			"for the key of clients. A Redis is asked for all that it is used for. The exit code is 0 if all is well, 1 with warnings, 2 with failures.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(s.config, s.overrides(cmd)...)
			if err == nil {
				err = c.CheckFiles()
			}
			t := &http.Transport{Proxy: http.ProxyFromEnvironment}
			defer t.CloseIdleConnections()
			p := &patient{
				Config: c, problems: err, key: os.Getenv("OPENAI_API_KEY"), probe: probe, patience: timeout, model: model, now: time.Now, asked: map[string]listAnswer{},
				client: &http.Client{Transport: t, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
			}
			all := p.examine(cmd.Context())
			if jsonOut {
				err = printJSON(cmd.OutOrStdout(), all)
			} else {
				err = printFindings(cmd.OutOrStdout(), all)
			}
			if err != nil {
				return err
			}
			if code := exitOf(all); code != 0 {
				return exitError(code)
			}
			return nil
		},
	}
	s.flags(cmd)
	cmd.Flags().BoolVar(&jsonOut, "json", false, "print the findings as JSON")
	cmd.Flags().BoolVar(&probe, "probe", false, "also make one small call, which may cost a fraction of a cent")
	cmd.Flags().DurationVar(&timeout, "timeout", probeTime, "how long to wait for the answer of that call")
	cmd.Flags().StringVar(&model, "model", "", "`MODEL` of that call (default: the first that the configuration or the upstream names)")
	return cmd
}

// examine makes all checks that can be made.
func (p *patient) examine(ctx context.Context) (all []finding) {
	for _, c := range checks {
		for _, f := range c.run(ctx, p) {
			f.Check = cmp.Or(f.Check, c.name)
			all = append(all, f)
		}
		if p.problems != nil {
			break
		}
	}
	return all
}

// exitOf returns the exit code of findings: that of the worst.
func exitOf(all []finding) (code int) {
	for _, f := range all {
		switch f.State {
		case failure:
			code = exitFailures
		case warning:
			code = max(code, exitWarnings)
		}
	}
	return code
}

func printFindings(w io.Writer, all []finding) error {
	var b strings.Builder
	for _, f := range all {
		fmt.Fprintf(&b, "%-9s  %-13s  %s\n", f.State, f.Check, f.Says)
		if f.Fix != "" {
			fmt.Fprintf(&b, "%11sfix: %s\n", "", f.Fix)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func checkConfiguration(_ context.Context, p *patient) (all []finding) {
	if p.problems != nil {
		var ps config.Problems
		if !errors.As(p.problems, &ps) {
			return []finding{{State: failure, Says: p.problems.Error(), Fix: "laconic check says more"}}
		}
		for _, problem := range ps {
			fix := problem.Hint
			if fix == "" {
				fix = "laconic check shows the place"
			}
			problem.Hint = ""
			all = append(all, finding{State: failure, Says: problem.Error(), Fix: fix})
		}
		return all
	}
	if p.options, p.problems = proxyOptions(p.Config, countingFor); p.problems != nil {
		return []finding{{State: failure, Says: p.problems.Error(), Fix: "laconic check says more"}}
	}
	return findings.Of(findings.Facts{Config: p.Config, Hints: hints(p.Config)})
}
