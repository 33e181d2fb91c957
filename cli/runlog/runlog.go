// Package runlog writes the log of a running proxy: lines for a person on a terminal,
// JSON elsewhere. No caller waits for the reader of the log.
package runlog

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
	"golang.org/x/term"
)

// Log is a log that must be closed.
type Log struct {
	*zap.Logger
	*writer
	Console bool // lines are for a person

	level    zap.AtomicLevel
	terminal *os.File // nil: the log is written elsewhere
}

// New returns a log that is written to w, from a level on that a configuration may have.
// The format is console, json or auto: console where w is a terminal.
func New(level, format string, w io.Writer) *Log {
	l := &Log{level: zap.NewAtomicLevel()}
	l.SetLevel(level)
	f, isFile := w.(*os.File)
	if isFile && term.IsTerminal(int(f.Fd())) {
		l.terminal = f
	}
	l.Console = format == "console" || format == "auto" && l.terminal != nil
	ec := zap.NewProductionEncoderConfig()
	ec.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	ec.EncodeDuration = zapcore.StringDurationEncoder
	ec.TimeKey = "time"
	enc := zapcore.NewJSONEncoder(ec)
	if l.Console {
		ec.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		ec.EncodeLevel = zapcore.CapitalLevelEncoder
		if l.terminal != nil && colors(os.Getenv) {
			ec.EncodeLevel = zapcore.CapitalColorLevelEncoder
		}
		enc = consoleEncoder{zapcore.NewConsoleEncoder(ec), l.level}
	}
	if isFile && ofJournal(f, os.Getenv("JOURNAL_STREAM")) {
		enc = journalEncoder{enc}
	}
	l.writer = newWriter(w, func(lines int) []byte {
		line, _ := enc.EncodeEntry( // zap's encoders take every entry
			zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "log lines were dropped"},
			[]zapcore.Field{zap.Int("lines", lines)})
		return line.Bytes()
	})
	l.Logger = zap.New(zapcore.NewCore(enc, zapcore.AddSync(l.writer), l.level))
	return l
}

// colors reports whether a terminal may be written to in colors: unless NO_COLOR is
// set (no-color.org), or the terminal says that it is a dumb one.
func colors(env func(string) string) bool { return env("NO_COLOR") == "" && env("TERM") != "dumb" }

// SetLevel changes the level while the log is written, to one that zap knows.
func (l *Log) SetLevel(level string) { _ = l.level.UnmarshalText([]byte(level)) }

// HungUp reports whether the log was written to a terminal that is gone.
func (l *Log) HungUp() bool { return l.terminal != nil && !term.IsTerminal(int(l.terminal.Fd())) }

// Always writes a line at any level.
func (l *Log) Always(message string, fields ...zap.Field) {
	_ = l.Core().Write(zapcore.Entry{Level: zapcore.InfoLevel, Time: time.Now(), Message: message}, fields)
}

// journalEncoder begins lines with the priority that journald takes from them and
// does not keep (sd-daemon(3)).
type journalEncoder struct{ zapcore.Encoder }

func (e journalEncoder) Clone() zapcore.Encoder { return journalEncoder{e.Encoder.Clone()} }

// EncodeEntry writes an entry and its priority.
func (e journalEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line, _ := e.Encoder.EncodeEntry(entry, fields) // it takes every entry
	text := line.String()
	line.Reset()
	line.AppendString(cmp.Or(priorities[entry.Level], "<2>") + text)
	return line, nil
}

// priorities are the prefixes of levels: what syslog calls debug, info, warning and err.
// That of all that ends a process is crit.
var priorities = map[zapcore.Level]string{zapcore.DebugLevel: "<7>", zapcore.InfoLevel: "<6>", zapcore.WarnLevel: "<4>", zapcore.ErrorLevel: "<3>"}

// ofJournal reports whether a file is the stream that JOURNAL_STREAM names as device
// and inode. The variable alone does not say so: it stays set where a log is
// redirected.
func ofJournal(f *os.File, stream string) bool {
	_, inode, found := strings.Cut(stream, ":")
	if !found {
		return false
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd()))
	return err == nil && link == "socket:["+inode+"]"
}
