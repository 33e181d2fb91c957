// Package runlog writes the log of a running proxy: lines for a person on a
// terminal, JSON elsewhere. Whoever logs never waits for the reader of the log.
package runlog

import (
	"io"
	"os"
	"time"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"golang.org/x/term"
)

// Log is a log that must be closed.
type Log struct {
	*zap.Logger
	*writer
	Console bool // lines are for a person
}

// New returns a log that is written to w. The format is console, json or auto:
// console where w is a terminal.
func New(level, format string, w io.Writer) (*Log, error) {
	least, err := zapcore.ParseLevel(level)
	if err != nil {
		return nil, err
	}
	f, isFile := w.(*os.File)
	terminal := isFile && term.IsTerminal(int(f.Fd()))
	console := format == "console" || format == "auto" && terminal
	ec := zap.NewProductionEncoderConfig()
	ec.EncodeTime = zapcore.RFC3339NanoTimeEncoder
	ec.EncodeDuration = zapcore.StringDurationEncoder
	ec.TimeKey = "time"
	enc := zapcore.NewJSONEncoder(ec)
	if console {
		ec.EncodeTime = zapcore.TimeEncoderOfLayout("15:04:05.000")
		ec.EncodeLevel = zapcore.CapitalLevelEncoder
		if terminal && colors(os.Getenv) {
			ec.EncodeLevel = zapcore.CapitalColorLevelEncoder
		}
		enc = consoleEncoder{zapcore.NewConsoleEncoder(ec), least > zapcore.DebugLevel}
	}
	out := newWriter(w, func(lines int) []byte {
		line, err := enc.EncodeEntry(
			zapcore.Entry{Level: zapcore.WarnLevel, Time: time.Now(), Message: "log lines were dropped"},
			[]zapcore.Field{zap.Int("lines", lines)})
		if err != nil {
			return nil
		}
		return line.Bytes()
	})
	return &Log{zap.New(zapcore.NewCore(enc, out, least)), out, console}, nil
}

// colors reports whether a terminal may be written to in colors: unless NO_COLOR is
// set (no-color.org), or the terminal says that it is a dumb one.
func colors(env func(string) string) bool { return env("NO_COLOR") == "" && env("TERM") != "dumb" }

// Always writes a line at any level.
func (l *Log) Always(message string, fields ...zap.Field) {
	_ = l.Core().Write(zapcore.Entry{Level: zapcore.InfoLevel, Time: time.Now(), Message: message}, fields)
}
