package cli

import (
	"fmt"
	"net"

	"laconic/cli/runlog"
	"laconic/config"

	"go.uber.org/zap"
)

// logStart logs what runs, at any level: for a person with what to paste into the
// client, else as a line of its own. Without an admin listener admin is "".
func logStart(l *runlog.Log, c *config.Config, addr, admin string) {
	if l.Console {
		_, _ = l.Write([]byte(startLines(c, addr, admin)))
		return
	}
	f := []zap.Field{
		zap.String("version", version()), zap.String("listening", c.Scheme()+"://"+addr), zap.String("upstream", config.ShownURL(c.Upstream)),
		zap.String("base_url", c.Scheme()+"://"+clientAddress(addr)+"/v1"),
	}
	if admin != "" {
		f = append(f, zap.String("health", "http://"+admin+"/healthz"))
	}
	if url := pageURL(c, admin); url != "" {
		f = append(f, zap.String("page", url))
	}
	if c.File() != "" {
		f = append(f, zap.String("config", c.File()))
	}
	if c.Summarizer.Model != "" {
		f = append(f, zap.String("summaries", summaryWords(c)))
	}
	if where := storeWords(c); where != "" {
		f = append(f, zap.String("store", where))
	}
	if all := hintLines(c, c.UnreadBase()); len(all) > 0 {
		f = append(f, zap.Strings("hints", all))
	}
	l.Always("listening", f...)
}

// startLines returns what a person reads when the proxy starts.
func startLines(c *config.Config, addr, admin string) string {
	from := "defaults, no file"
	if c.File() != "" {
		from = c.File()
	}
	health, page := "off", ""
	if admin != "" {
		health = "http://" + admin + "/healthz"
	}
	if url := pageURL(c, admin); url != "" {
		page = "  page       " + url + "\n"
	}
	summaries := ""
	if c.Summarizer.Model != "" {
		summaries = "  summaries  " + summaryWords(c) + "\n"
	}
	if where := storeWords(c); where != "" {
		summaries += "  store      " + where + "\n"
	}
	hinted := ""
	for _, hint := range hintLines(c, c.UnreadBase()) {
		hinted += "  hint       " + hint + "\n"
	}
	return fmt.Sprintf("laconic %s\n  listening  %s://%s\n  upstream   %s\n%s%s  health     %s\n%s  config     %s\n\n  export OPENAI_BASE_URL=%s://%s/v1\n\n",
		version(), c.Scheme(), addr, config.ShownURL(c.Upstream), hinted, summaries, health, page, from, c.Scheme(), clientAddress(addr))
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
