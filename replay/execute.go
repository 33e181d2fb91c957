package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"laconic/replay/record"
)

// The exit codes of Execute.
const (
	ExitDone   = 0 // everything was replayed, every claimed promise was kept
	ExitBroken = 1 // a policy broke a promise that it claims; hides ExitInput
	ExitInput  = 2 // something could not be read or understood; the rest was replayed
)

// Execute replays what the command line asks for. The table (or JSON) goes to
// stdout; the progress, what could not be read and broken promises go to
// stderr. It gives the exit code.
func Execute(ctx context.Context, a Args, stdout, stderr io.Writer) int {
	o, err := a.options()
	if err != nil {
		fmt.Fprintln(stderr, "replay:", err)
		return ExitInput
	}
	// Before the work, so that nobody waits for a report that cannot be
	// written.
	report, err := openReport(a.HTML, a.Files)
	if err != nil {
		fmt.Fprintln(stderr, "replay:", err)
		return ExitInput
	}
	defer report.leave()
	b := barOn(stderr)
	o.Progress = b.draw
	res, err := Run(ctx, o)
	b.clear()
	code := ExitDone
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "replay: stopped; the numbers hold what was replayed until then")
		code = ExitInput
	case err != nil:
		fmt.Fprintln(stderr, "replay:", err)
		return ExitInput
	}
	if err := a.write(&res, stdout, report); err != nil {
		fmt.Fprintln(stderr, "replay:", err)
		code = ExitInput
	}
	if told := tell(&res, stderr); told != ExitDone {
		code = told
	}
	return code
}

// write puts the result where it was asked for. Where nothing was measured
// only JSON has something to say.
func (a *Args) write(res *Result, stdout io.Writer, report *reportFile) error {
	if len(res.Files) > 0 {
		if err := report.write(res); err != nil {
			return err
		}
	}
	switch {
	case a.JSON:
		return res.WriteJSON(stdout)
	case len(res.Files) > 0:
		return res.WriteTable(stdout, widthOf(stdout))
	}
	return nil
}

// reportFile is the file of the HTML report. An older report in it stays until
// there is a new one. nil: none was asked for.
type reportFile struct {
	*os.File
	written bool
}

func openReport(path string, inputs []string) (*reportFile, error) {
	if path == "" {
		return nil, nil
	}
	if old, err := os.Stat(path); err == nil {
		for _, in := range inputs {
			if s, err := os.Stat(in); err == nil && os.SameFile(old, s) {
				return nil, fmt.Errorf("the report cannot be written to %s: it is one of the files to replay", path)
			}
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		why := record.WhyNot(err)
		if errors.Is(err, fs.ErrNotExist) {
			why = "there is no such folder"
		}
		return nil, fmt.Errorf("the report cannot be written to %s: %s", path, why)
	}
	return &reportFile{File: f}, nil
}

func (f *reportFile) write(res *Result) error {
	if f == nil {
		return nil
	}
	f.written = true
	if s, err := f.Stat(); err == nil && s.Mode().IsRegular() {
		if err := f.Truncate(0); err != nil {
			return fmt.Errorf("the report cannot be written to %s: %s", f.Name(), record.WhyNot(err))
		}
	}
	err := res.WriteHTML(f)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return fmt.Errorf("the report cannot be written to %s: %s", f.Name(), record.WhyNot(err))
	}
	return nil
}

// leave closes a file that got no report, and removes it if it is empty.
func (f *reportFile) leave() {
	if f == nil || f.written {
		return
	}
	s, err := f.Stat()
	_ = f.Close() // nothing was written
	if err == nil && s.Mode().IsRegular() && s.Size() == 0 {
		_ = os.Remove(f.Name()) // an empty file more is no harm
	}
}

// MostTold is how many unread lines are named on stderr: the rest is counted.
// The JSON and the page name all.
const MostTold = 1000

// tell writes what could not be read and what was broken, and gives the exit
// code for it.
func tell(res *Result, stderr io.Writer) int {
	code := ExitDone
	for i, u := range res.Unread {
		if i == MostTold {
			fmt.Fprintf(stderr, "replay: and %d more, which --json and --html name\n", len(res.Unread)-i)
			break
		}
		fmt.Fprintln(stderr, "replay:", u)
	}
	if len(res.Unread) > 0 {
		code = ExitInput
	}
	if len(res.Files) == 0 && len(res.Unread) == 0 {
		fmt.Fprintf(stderr, "replay: nothing was measured: %s left out for a peak that is too small, or without a request\n", count(res.Left, "conversation"))
		code = ExitInput
	}
	for _, f := range res.Failures {
		fmt.Fprintln(stderr, "replay:", f)
	}
	if res.Failed() {
		code = ExitBroken
	}
	return code
}
