package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"laconic/config"
	"laconic/number"
	"laconic/proxy/apierror"
	"laconic/proxy/discover"
	"laconic/proxy/why"
)

// lookTime is how long an upstream may take to say what it is; those of this machine
// answer at once, or not at all.
const lookTime = 3 * time.Second

func initCommand() *cobra.Command {
	var upstream, output string
	var force bool
	cmd := &cobra.Command{
		Use:   "init",
		Short: "write a " + config.FileName + " for the servers of this machine, or for an upstream",
		Long: "Looks for Ollama, llama.cpp, vLLM, LM Studio and SGLang on their usual ports of this machine,\n" +
			"and writes a commented configuration with the windows that they publish.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if _, err := os.Lstat(output); err == nil && !force && output != "-" {
				return fmt.Errorf("%s is there already (--force overwrites it, --output - prints the new one)", output)
			}
			all, err := upstreamsFor(cmd, upstream)
			if err != nil {
				return err
			}
			text := configurationFor(all)
			if c, err := config.Parse(output, []byte(text), os.LookupEnv); err != nil {
				return printConfig(cmd.ErrOrStderr(), c, err, false)
			}
			if output == "-" {
				_, err := io.WriteString(cmd.OutOrStdout(), text)
				return err
			}
			if err := os.WriteFile(output, []byte(text), 0o600); err != nil {
				return err
			}
			for _, f := range all {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: %s, %s\n", config.ShownURL(f.url.String()), f.name(), modelsWords(f))
				if first := why.Unloaded(f.Program); first.Says != "" && len(f.Windows) == 0 {
					fmt.Fprintln(cmd.OutOrStdout(), "hint:", first)
				}
				for _, m := range f.Models {
					if small := why.Small(f.Program, m, f.Published(m).Window); small.Says != "" {
						fmt.Fprintln(cmd.OutOrStdout(), "hint:", small)
					}
				}
			}
			fmt.Fprintf(cmd.OutOrStdout(), "wrote %s\n\nnext: laconic check, then laconic run -- opencode (or codex, claude, another client), or laconic alone\n", output)
			return nil
		},
	}
	cmd.Flags().StringVar(&upstream, "upstream", "", "base URL of the upstream, instead of looking for one")
	cmd.Flags().StringVarP(&output, "output", "o", config.FileName, "`FILE` to write; - prints it")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite the file if it is there")
	return cmd
}

// upstreamsFor returns the upstreams to write down: the one that is named, else those
// of this machine.
func upstreamsFor(cmd *cobra.Command, named string) ([]upstream, error) {
	if named == "" {
		if all := onThisMachine(cmd.Context()); len(all) > 0 {
			return all, nil
		}
		var ports []string
		for _, p := range discover.Programs {
			ports = append(ports, fmt.Sprintf("%s %d", p.Name, p.Port))
		}
		return nil, errors.New("no server answers on the usual ports of this machine (" + strings.Join(ports, ", ") + "): name one by --upstream URL")
	}
	u, err := config.ParseUpstream(named)
	if err != nil {
		return nil, err
	}
	if discover.Silent(u) {
		return []upstream{{url: u}}, nil
	}
	ask := func(u *url.URL) discover.Found {
		f := look(cmd.Context(), u, "", lookTime)
		if key := clientKey(); key != "" && wantsKey(f) {
			f = look(cmd.Context(), u, key, lookTime)
		}
		return f
	}
	f := ask(u)
	if below := u.JoinPath("v1"); f.Status == http.StatusNotFound && strings.Trim(u.Path, "/") == "" {
		if g := ask(below); g.Status == http.StatusOK || wantsKey(g) {
			f, u = g, below
		}
	}
	if f.Status == 0 {
		fmt.Fprintf(cmd.ErrOrStderr(), "laconic: %s does not answer now (%s): it is written down as it is named\n", config.ShownURL(u.String()), apierror.Reason(f.Err))
	}
	return []upstream{{Found: f, url: u}}, nil
}

// onThisMachine returns the servers that answer on their usual ports.
func onThisMachine(ctx context.Context) (all []upstream) {
	each := make([]upstream, len(discover.Programs))
	var wg sync.WaitGroup
	for i, p := range discover.Programs {
		wg.Go(func() {
			u := &url.URL{Scheme: "http", Host: fmt.Sprintf("127.0.0.1:%d", p.Port), Path: "/v1"}
			each[i] = upstream{Found: look(ctx, u, "", lookTime), url: u}
		})
	}
	wg.Wait()
	for _, f := range each {
		if f.Program != "" || len(f.Models) > 0 {
			all = append(all, f)
		}
	}
	return all
}

// mostWritten is how many models are written down; a longer list is a catalogue,
// which the proxy asks for itself.
const mostWritten = 30

// name returns what an upstream is, in words.
func (f upstream) name() string {
	switch {
	case f.Program != "":
		return f.Program
	case wantsKey(f.Found):
		return "an upstream that wants a key"
	case f.Status == 0:
		return "an upstream"
	}
	return "an OpenAI-compatible server"
}

func modelsWords(f upstream) string {
	windows := 0
	for _, m := range f.Models {
		if f.Published(m).Window > 0 {
			windows++
		}
	}
	return fmt.Sprintf("%s, %s", number.Count(len(f.Models), "model"), number.Count(windows, "window"))
}

// configurationFor returns the text of a configuration for some upstreams, of which
// the first is that of all models that no row names.
func configurationFor(all []upstream) string {
	var b strings.Builder
	b.WriteString("# Written by laconic init. `laconic check` says what this comes to; config.example.yaml\n# explains every setting.\n\n")
	fmt.Fprintf(&b, "# The base URL of %s, in the place of the client's.\nupstream: %s\n\n", all[0].name(), quotedYAML(all[0].url.String()))
	b.WriteString("# The address for clients: laconic env CLIENT prints what to set there.\n#listen: " + config.Default().Listen + "\n\n")
	b.WriteString("# Rows of models; the first that matches counts. window is in tokens: what the server was\n" +
		"# started with, not the model's maximum. auto asks the server while the proxy runs.\nmodels:\n")
	seen := map[string]bool{}
	for i, f := range all {
		if len(f.Models) > mostWritten {
			fmt.Fprintf(&b, "  # %s lists %d models: auto finds their windows.\n", f.name(), len(f.Models))
			continue
		}
		for _, m := range f.Models {
			if seen[m] || !writable(m) {
				continue
			}
			seen[m] = true
			fmt.Fprintf(&b, "  - match: %s\n", quotedYAML(m))
			if i > 0 {
				fmt.Fprintf(&b, "    upstream: %s   # %s\n    api_key: none   # it wants none, and the client's is not for it\n", quotedYAML(f.url.String()), f.name())
			}
			if n := f.Published(m).Window; n > 0 {
				fmt.Fprintf(&b, "    window: %d   # as %s published it\n", n, f.name())
			} else {
				b.WriteString("    window: auto   # not published now\n")
			}
		}
	}
	b.WriteString("  - match: \"*\"\n    window: auto\n    #budget: 24000   # tokens of prompt, instead of the window less a reserve\n    #mode: shadow    # measure and report, but send requests as they came\n")
	return b.String()
}

// writable reports whether the name of a model can be a row: one that names it alone.
func writable(model string) bool {
	return len(model) <= 200 && !strings.ContainsAny(model, `*${}\`) && !strings.ContainsFunc(model, func(r rune) bool { return r < ' ' || r >= 0x7f })
}

// quotedYAML returns text as YAML, which reads the texts of JSON.
func quotedYAML(text string) string {
	return strings.ReplaceAll(string(must(json.Marshal(text))), "${", "$${")
}
