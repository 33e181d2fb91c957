package cli

import (
	"cmp"
	"fmt"
	"net"
	"strings"

	"laconic/cli/runlog"
	"laconic/config"

	"go.uber.org/zap"
)

// logStart logs what runs, at any level: for a person with what to paste into the
// client, else as a line of its own. Without an admin listener admin is "".
func logStart(l *runlog.Log, c *config.Config, addr, admin string) {
	base, hints := c.Scheme()+"://"+clientAddress(addr)+"/v1", hintLines(c)
	if l.Console {
		text := "laconic " + version() + "\n"
		for _, f := range startFacts(c, addr, admin, hints) {
			text += fmt.Sprintf("  %-9s  %s\n", f[0], f[1])
		}
		_, _ = l.Write([]byte(text + "\n  export OPENAI_BASE_URL=" + base + "\n\n"))
		return
	}
	fields := []zap.Field{zap.String("version", version()), zap.String("base_url", base)}
	for _, f := range startFacts(c, addr, admin, nil) {
		fields = append(fields, zap.String(f[0], f[1]))
	}
	if len(hints) > 0 {
		fields = append(fields, zap.Strings("hints", hints))
	}
	l.Always("listening", fields...)
}

// startFacts returns what runs, as pairs of a name and a value.
func startFacts(c *config.Config, addr, admin string, hints []string) (all [][2]string) {
	add := func(name, value string) {
		if value != "" {
			all = append(all, [2]string{name, value})
		}
	}
	add("listening", c.Scheme()+"://"+addr)
	add("upstream", config.ShownURL(c.Upstream))
	for _, hint := range hints {
		add("hint", hint)
	}
	if s := c.Summarizer; s.Model != "" {
		add("summaries", s.Model+" at "+config.ShownURL(s.Upstream))
	}
	add("store", storeWords(c))
	if admin != "" {
		add("health", "http://"+admin+"/healthz")
	}
	add("page", pageURL(c, admin))
	add("config", cmp.Or(c.File, "defaults: there is none of "+strings.Join(config.Places(), ", ")))
	return all
}

// pageURL returns where the page is, for a browser on this machine; "" without one.
// Without an admin listener admin is "".
func pageURL(c *config.Config, admin string) string {
	if admin == "" || !c.Page {
		return ""
	}
	return "http://" + clientAddress(admin) + "/page/"
}

// clientAddress returns the address that a client on this machine can reach.
func clientAddress(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return addr
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}
