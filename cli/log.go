package cli

import (
	"fmt"
	"io"
	"net"
	"os"
	"time"

	"laconic/config"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/term"
)

// runLog is the log of a running proxy: lines for a person on a terminal, JSON
// elsewhere.
type runLog struct {
	*zap.Logger
	*logWriter
	console bool
}

// newLog makes the log that is written to w. It must be closed.
func newLog(c config.Log, w io.Writer) (*runLog, error) {
	level, err := zapcore.ParseLevel(c.Level)
	if err != nil {
		return nil, err
	}
	f, isFile := w.(*os.File)
	terminal := isFile && term.IsTerminal(int(f.Fd()))
	console := c.Format == "console" || c.Format == "auto" && terminal
	ec := zap.NewProductionEncoderConfig()
	ec.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	ec.EncodeDuration = zapcore.StringDurationEncoder
	ec.TimeKey = "time"
	enc := zapcore.NewJSONEncoder(ec)
	if console {
		ec.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		ec.EncodeLevel = zapcore.CapitalLevelEncoder
		if terminal && os.Getenv("NO_COLOR") == "" {
			ec.EncodeLevel = zapcore.CapitalColorLevelEncoder
		}
		enc = newConsoleEncoder(ec, level > zapcore.DebugLevel)
	}
	out := newLogWriter(w, func(lines int) []byte {
		line, err := enc.EncodeEntry(
			zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "log lines were dropped"},
			[]zapcore.Field{zap.Int("lines", lines)})
		if err != nil {
			return nil
		}
		return line.Bytes()
	})
	return &runLog{zap.New(zapcore.NewCore(enc, out, level)), out, console}, nil
}

// notes say how many lines nobody will see, for /readyz?verbose.
func (l *runLog) notes() string { return fmt.Sprintf("log: %d lines dropped\n", l.Dropped()) }

// started says what runs, at any level: for a person with what to paste into the
// client, else as a line of its own. admin is "" where there is no admin
// listener.
func (l *runLog) started(c *config.Config, addr, admin string) {
	if l.console {
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
	if c.File() != "" {
		f = append(f, zap.String("config", c.File()))
	}
	if c.Summarizer.Model != "" {
		f = append(f, zap.String("summaries", summaryWords(c)))
	}
	if all := hints(c); len(all) > 0 {
		f = append(f, zap.Strings("hints", all))
	}
	_ = l.Core().Write(zapcore.Entry{Level: zapcore.InfoLevel, Time: time.Now(), Message: "listening"}, f)
}

// startLines tell a person what runs and what to paste into the client. admin
// is "" where there is no admin listener.
func startLines(c *config.Config, addr, admin string) string {
	from := "defaults, no file"
	if c.File() != "" {
		from = c.File()
	}
	health := "off"
	if admin != "" {
		health = "http://" + admin + "/healthz"
	}
	summaries := ""
	if c.Summarizer.Model != "" {
		summaries = "  summaries  " + summaryWords(c) + "\n"
	}
	hinted := ""
	for _, hint := range hints(c) {
		hinted += "  hint       " + hint + "\n"
	}
	return fmt.Sprintf("laconic %s\n  listening  %s://%s\n  upstream   %s\n%s%s  health     %s\n  config     %s\n\n  export OPENAI_BASE_URL=%s://%s/v1\n\n",
		version(), c.Scheme(), addr, config.ShownURL(c.Upstream), hinted, summaries, health, from, c.Scheme(), clientAddress(addr))
}

// clientAddress is the address that a client on this machine can reach.
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
