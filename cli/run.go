package cli

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"laconic/cli/clients"
	"laconic/cli/runlog"
	"laconic/cli/tally"
	"laconic/config"
	"laconic/proxy/access"
)

const (
	// listTime is how long the upstream may take to list its models.
	listTime = 4 * time.Second
	// lastTime is how long answers may go on that nobody waits for.
	lastTime = 2 * time.Second
	// longestLog is the size at which the log of the runs before is begun anew.
	longestLog = 4 << 20
)

// running is one command that runs behind a proxy of its own.
type running struct {
	settings
	model, log string
	quiet      bool
	keep       bool
}

func runCommand() *cobra.Command {
	var r running
	cmd := &cobra.Command{
		Use:   "run [flags] -- COMMAND [ARGUMENT]…",
		Short: "run a command, such as an agent, behind a proxy of its own",
		Long: "Starts the proxy on a free port of this machine, runs the command in this terminal with\n" +
			"what it needs in its environment, and says at its end what was repaired and compacted.\n" +
			"The exit code is the command's. The proxy's log goes to a file.",
		Example: "  laconic run -- opencode\n  laconic run --upstream http://127.0.0.1:11434/v1 --model qwen3 -- pi",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("run needs a command: laconic run -- opencode")
			}
			return r.run(cmd, args)
		},
	}
	r.flags(cmd)
	f := cmd.Flags()
	f.SetInterspersed(false) // the command's own flags are its own
	f.StringVar(&r.model, "model", "", "`MODEL` that the command is told to use, where it has to be told")
	f.StringVar(&r.log, "log", "", "`FILE` that the proxy's log is added to (default: laconic/run.log in the user's cache folder)")
	f.BoolVar(&r.keep, "keep", false, "keep the proxy and its page after the command has ended, until Ctrl-C")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "say nothing but what went wrong")
	return cmd
}

// run runs a command behind a proxy, and returns its exit code as an error.
func (r *running) run(cmd *cobra.Command, args []string) error {
	client := clients.OfCommand(args[0])
	c, err := r.configuration(cmd, client)
	if err != nil {
		return printConfig(cmd.ErrOrStderr(), c, err, false)
	}
	path, err := exec.LookPath(args[0])
	if err != nil {
		return exitError(cannotRun(cmd, err))
	}
	// A reader of standard error that goes away ends nothing. Ignored, the signal
	// would be ignored by the command, too.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	file, logName := r.openLog()
	defer file.Close()
	log := runlog.New(c.Log.Level, c.Log.Format, file)
	defer log.Close()

	var sums tally.Tally
	serving, stop := context.WithCancelCause(context.WithoutCancel(cmd.Context()))
	defer stop(nil)
	addr, admin, ended, err := startProxy(serving, c, log, sums.Listener())
	if err != nil {
		return err
	}
	base := "http://" + clientAddress(addr) + "/v1"
	files := &ownFiles{}
	defer files.remove()
	key := ""
	if n := len(c.ClientKeys); n > 0 {
		key = string(c.ClientKeys[n-1]) // which was made for this run
	}
	s := clients.Start(client, clients.Given{
		Base: base, Key: key, AnyKey: wantsNoKey(c), Elsewhere: client != nil && hostOf(c.Upstream) != hostOf(client.Upstream), Model: cmp.Or(r.model, firstNamed(c)), Chosen: r.model != "",
		Args: args[1:], File: files.write, Lookup: os.LookupEnv,
		List: sync.OnceValue(func() []string { // those of the upstream of most requests
			route := proxyOptions(c).Default
			return look(cmd.Context(), route.Upstream, cmp.Or(string(route.Key), clientKey()), listTime).Models
		}),
	})
	if _, chosen := os.LookupEnv("OPENAI_MODEL"); r.model != "" && !chosen {
		s.Env["OPENAI_MODEL"] = r.model
	}
	say := func(format string, args ...any) {
		if !r.quiet {
			fmt.Fprintf(cmd.ErrOrStderr(), "laconic: "+format+"\n", args...)
		}
	}
	say("%s in front of %s, log in %s", base, config.ShownURL(c.Upstream), logName)
	url := pageURL(c, admin)
	if url != "" {
		asks := ""
		if c.AdminToken != "" {
			asks = " (it asks for your admin_token)"
		}
		say("watch it at %s%s", url, asks)
	}
	for _, line := range slices.Concat(hintLines(c), s.Say) {
		say("%s", line)
	}
	code, err := runHere(cmd, path, append(s.Args, args[1:]...), environment(s.Env))
	if r.keep && err == nil {
		over, done := signal.NotifyContext(serving, os.Interrupt, syscall.SIGTERM)
		say("the command ended; the page stays at %s until Ctrl-C", cmp.Or(url, base))
		<-over.Done()
		done()
	}
	stop(errors.New("the command ended"))
	served := <-ended
	if err != nil {
		return err
	}
	for _, line := range sums.Lines() {
		say("%s", line)
	}
	if sums.Requests() == 0 && client == nil {
		say("%s does not read OPENAI_BASE_URL, or had nothing to ask", filepath.Base(args[0]))
	}
	if served != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "laconic: the proxy ended: %v\n", served)
	}
	if code != 0 {
		return exitError(code)
	}
	return nil
}

// configuration returns the configuration of a proxy for one command alone: on a
// free port of this machine, without TLS.
func (r *running) configuration(cmd *cobra.Command, client *clients.Client) (*config.Config, error) {
	over := r.overrides(cmd)
	if listen := cmd.Flag("listen"); !listen.Changed || listen.Annotations[byVariable] != nil { // the variable is that of a service
		over = append(over, config.Override{Key: "listen", Value: "127.0.0.1:0", From: "laconic run"})
	}
	c, err := config.Load(r.config, over...)
	if err == nil && client != nil && client.Upstream != "" && !c.Has("upstream") {
		// Its key is not for the default upstream.
		c, err = config.Load(r.config, append(over, config.Override{Key: "upstream", Value: client.Upstream, From: "laconic run"})...)
	}
	if err != nil {
		return c, err
	}
	if !access.Loopback(c.Listen) {
		return c, fmt.Errorf("laconic run listens on this machine alone, and %s is not", c.Listen)
	}
	c.TLS = config.TLS{}
	if len(c.ClientKeys) > 0 {
		c.ClientKeys = append(c.ClientKeys, access.Secret("laconic-"+rand.Text()))
	}
	c.Limits.Shutdown, c.Limits.Drain = min(c.Limits.Shutdown, config.Duration(lastTime)), new(config.Duration) // no balancer sends it anything
	if l, err := net.Listen("tcp", c.Admin); c.Admin != "" && err != nil {
		c.Admin = "127.0.0.1:0" // another proxy has it
	} else if err == nil {
		_ = l.Close()
	}
	return c, c.CheckFiles()
}

// wantsNoKey reports whether the upstream of all models wants no key of the command's:
// because it is on this machine, or because the configuration has one.
func wantsNoKey(c *config.Config) bool {
	host := hostOf(c.Upstream)
	return host != "" && access.Loopback(host) || slices.ContainsFunc(c.Models, func(m config.Model) bool { return m.Everything() && m.APIKey != "" })
}

// hostOf returns the host of an upstream, with its port; "" if there is none.
func hostOf(upstream string) string {
	if u, err := config.ParseUpstream(upstream); err == nil {
		return u.Host
	}
	return ""
}

// firstNamed returns the first model that the configuration names without a pattern;
// "" if it names none.
func firstNamed(c *config.Config) string {
	for _, m := range c.Models {
		if !strings.Contains(m.Match, "*") {
			return m.Match
		}
	}
	return ""
}
