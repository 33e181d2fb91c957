package runlog

import (
	"fmt"
	"os"
	"strings"

	"go.uber.org/zap/buffer"
	"go.uber.org/zap/zapcore"
)

// journalEncoder begins lines with the priority that journald takes from them and
// does not keep (sd-daemon(3)).
type journalEncoder struct{ zapcore.Encoder }

func (e journalEncoder) Clone() zapcore.Encoder { return journalEncoder{e.Encoder.Clone()} }

// EncodeEntry writes an entry and its priority.
func (e journalEncoder) EncodeEntry(entry zapcore.Entry, fields []zapcore.Field) (*buffer.Buffer, error) {
	line, err := e.Encoder.EncodeEntry(entry, fields)
	if err != nil {
		return nil, err
	}
	text := line.String()
	line.Reset()
	line.AppendString(priority(entry.Level) + text)
	return line, nil
}

// priority returns the prefix of a level: what syslog calls debug, info, warning, err
// and, of all that ends a process, crit.
func priority(l zapcore.Level) string {
	switch {
	case l <= zapcore.DebugLevel:
		return "<7>"
	case l == zapcore.InfoLevel:
		return "<6>"
	case l == zapcore.WarnLevel:
		return "<4>"
	case l == zapcore.ErrorLevel:
		return "<3>"
	}
	return "<2>"
}

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
