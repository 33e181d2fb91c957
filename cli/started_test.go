package cli

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"laconic/cli/runlog"
	"laconic/config"
)

// Programs read every line of the log: laconic 2>&1 | jq.
func TestEveryLineForAProgramIsJSON(t *testing.T) {
	t.Setenv("OPENAI_BASE_URL", "")
	c := parsed(t, "upstream: http://127.0.0.1:11434/?key=canary", os.LookupEnv)
	start := func(format string) string {
		var out lockedText
		log := runlog.New("error", format, &out)
		logStart(log, c, "0.0.0.0:7280", "127.0.0.1:7281")
		log.Warn("something")
		log.Close()
		return out.String()
	}
	text := start("json")
	var said struct {
		Level, Msg, Listening, Upstream, Health, Page, Config string
		BaseURL                                               string `json:"base_url"`
		Hints                                                 []string
	}
	if err := json.Unmarshal([]byte(text), &said); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if said.Level != "info" || said.Msg != "listening" || said.Listening != "http://0.0.0.0:7280" || said.BaseURL != "http://127.0.0.1:7280/v1" ||
		said.Health != "http://127.0.0.1:7281/healthz" || said.Page != "http://127.0.0.1:7281/page/" || said.Config != "laconic.yaml" || len(said.Hints) != 1 || strings.Contains(text, "canary") {
		t.Errorf("%s", text)
	}
	if text := start("console"); !strings.HasPrefix(text, "laconic ") || !strings.Contains(text, "\n  listening  http://0.0.0.0:7280\n") || !strings.HasSuffix(text, "\n  export OPENAI_BASE_URL=http://127.0.0.1:7280/v1\n\n") {
		t.Errorf("%s", text)
	}
}

// Where no file was found, both forms of the log say where one was looked for.
func TestTheLogSaysWhereAFileWasLookedFor(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", "/home/of/somebody")
	for _, format := range []string{"json", "console"} {
		var out lockedText
		log := runlog.New("error", format, &out)
		logStart(log, config.Default(), "127.0.0.1:7280", "")
		log.Close()
		if !strings.Contains(out.String(), "there is none of laconic.yaml, laconic.yml, /home/of/somebody/laconic/laconic.yaml, ") {
			t.Errorf("%s: %s", format, out.String())
		}
	}
}
