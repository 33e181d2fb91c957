package cli

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.uber.org/zap"

	"laconic/cli/runlog"
	"laconic/number"
	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/proxy/operate"
	"laconic/proxy/page"
	"laconic/proxy/summarize"
)

// eraseCommand asks a running proxy to erase what it keeps of one client.
func eraseCommand() *cobra.Command {
	var s settings
	var client, keyFile string
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "erase",
		Short: "erase the stored summaries of one client",
		Long: "Asks the running proxy, at the admin address of the configuration, to erase the summaries\n" +
			"of all conversations of one client, in the store and in its memory.\n\n" +
			"With client_keys the client is named as the page and the log of changes name it: by the\n" +
			"variable that holds its key, else as client_keys[0]. Without, the key itself is read from\n" +
			"a file or from standard input, as the client sends it:\n\n" +
			"  laconic erase --client ALICE\n" +
			"  printenv OPENAI_API_KEY | laconic erase --key-file -\n\n" +
			"Give it the flags that serve got. Of the configuration it reads admin and admin_token alone.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			form := url.Values{}
			switch {
			case (client == "") == (keyFile == ""):
				return errors.New("whose summaries? --client NAME or --key-file FILE")
			case client != "":
				form.Set("client", client)
			default:
				key, err := readKey(cmd.InOrStdin(), keyFile)
				if err != nil {
					return err
				}
				form.Set("credential", key)
			}
			return s.ask(cmd, timeout, http.MethodPost, "/erase", form)
		},
	}
	s.flags(cmd)
	cmd.Flags().StringVar(&client, "client", "", "`NAME` of its client key")
	cmd.Flags().StringVar(&keyFile, "key-file", "", "`FILE` that holds its key; - is standard input")
	cmd.Flags().DurationVar(&timeout, "timeout", time.Minute, "how long to wait for the answer")
	return cmd
}

// longestForm bounds what names a client.
const longestForm = 64 << 10

// readKey returns the key that a file holds, without the white space around it.
func readKey(stdin io.Reader, name string) (string, error) {
	from := stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return "", err
		}
		defer f.Close()
		from = f
	}
	text, err := io.ReadAll(io.LimitReader(from, longestForm/4))
	if err != nil {
		return "", err
	}
	key := strings.TrimSpace(string(text))
	if key == "" {
		return "", errors.New("there is no key in " + name)
	}
	return key, nil
}

// eraser erases what is kept of clients.
type eraser struct {
	p     *proxy.Proxy
	shown *page.Page // nil: there is no page
	log   *runlog.Log
}

// page is where that is asked for.
func (e eraser) page() operate.Page {
	return operate.Page{Path: "/erase", Methods: []string{http.MethodPost}, Browser: true, Handler: e}
}

// ServeHTTP erases the summaries of the client that a form names, by client or by
// credential, and drops its captured texts. What it says and logs names a client as
// the configuration does, and never shows a credential.
func (e eraser) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(formTimeout))
	r.Body = http.MaxBytesReader(w, r.Body, longestForm)
	if r.ParseForm() != nil || len(r.URL.RawQuery) > 0 {
		say(w, http.StatusBadRequest, "The client is named in the body, as in client=NAME or credential=KEY: addresses are logged on their way.\n")
		return
	}
	client, credential := r.PostForm["client"], r.PostForm["credential"]
	var n int
	var err error
	whose := "this credential"
	switch {
	case len(client) == 1 && len(credential) == 0:
		whose = client[0]
		n, err = e.p.EraseClient(r.Context(), whose)
	case len(credential) == 1 && len(client) == 0:
		n, err = e.p.Erase(r.Context(), access.Secret(credential[0]))
	default:
		say(w, http.StatusBadRequest, "Whose summaries? The body is client=NAME or credential=KEY.\n")
		return
	}
	if errors.Is(err, proxy.ErrNoClient) {
		say(w, http.StatusNotFound, "No client key has this name.\n")
		return
	}
	if e.shown != nil {
		e.shown.Forget(r.PostForm.Get("client"))
	}
	fields := []zap.Field{zap.String("client", whose), zap.Int("summaries", n)}
	done := fmt.Sprintf("%s of %s erased", number.Count(n, "stored summary"), whose)
	switch {
	case errors.Is(err, summarize.ErrUntold):
		e.log.Warn("summaries were erased, and the other replicas could not be told", fields...)
		say(w, http.StatusBadGateway, done+", but the other replicas could not be told: ask each of them itself. /readyz?verbose says why.\n")
	case err != nil:
		e.log.Warn("summaries were not all erased: the store failed", fields...)
		say(w, http.StatusServiceUnavailable, "The store failed: "+done+", some may be left. Ask again when it answers.\n")
	default:
		e.log.Always("summaries were erased", fields...)
		say(w, http.StatusOK, done+"\n")
	}
}

// formTimeout is the time to send a form.
const formTimeout = 5 * time.Second
