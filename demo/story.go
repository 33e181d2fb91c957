package demo

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed story.txt
var storyText string

//go:embed parceld.txtar
var parceldArchive []byte

// tellStory reads the story and plays its calls on the workspace. An error names the line; the shipped story
// has none, which a test holds.
func tellStory(text string, w *workspace) ([]beat, error) {
	_, text, _ = strings.Cut(text, "\n===\n")
	r := &storyReader{lines: strings.Split(text, "\n"), w: w}
	for r.at < len(r.lines) {
		if err := r.beat(); err != nil {
			return nil, fmt.Errorf("story, %q: %w", r.lines[min(r.at, len(r.lines)-1)], err)
		}
	}
	return r.beats, nil
}

type storyReader struct {
	lines []string
	at    int
	w     *workspace
	beats []beat
	calls int // so far; makes their ids
}

func (r *storyReader) beat() error {
	line := r.lines[r.at]
	kind, first, _ := strings.Cut(line, ": ")
	switch {
	case line == "":
		r.at++
		return nil
	case kind == "user":
		r.beats = append(r.beats, beat{user: r.text(first)})
	case kind == "agent":
		b := beat{agent: r.text(first)}
		for r.at < len(r.lines) && strings.HasPrefix(r.lines[r.at], ">") {
			c, err := r.call()
			if err != nil {
				return err
			}
			b.calls = append(b.calls, c)
		}
		r.beats = append(r.beats, b)
	case kind == "aside":
		last, err := strconv.Atoi(first)
		if err != nil {
			return err
		}
		r.at++
		question, answer, _ := strings.Cut(r.text(r.lines[r.at]), "\n---\n")
		r.beats = append(r.beats, beat{aside: question, agent: answer, last: last})
	default:
		return fmt.Errorf("expected user, agent or aside")
	}
	return nil
}

// text takes lines up to the next beat or call.
func (r *storyReader) text(first string) string {
	lines := []string{first}
	for r.at++; r.at < len(r.lines); r.at++ {
		line := r.lines[r.at]
		if strings.HasPrefix(line, ">") || strings.HasPrefix(line, "user: ") || strings.HasPrefix(line, "agent: ") || strings.HasPrefix(line, "aside: ") {
			break
		}
		lines = append(lines, line)
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// block reads <<<<<<<, old, =======, new, >>>>>>>. Without ======= everything is old.
func (r *storyReader) block() (old, new string, err error) {
	if r.at >= len(r.lines) || r.lines[r.at] != "<<<<<<<" {
		return "", "", fmt.Errorf("expected <<<<<<<")
	}
	parts := []string{"", ""}
	part := 0
	for r.at++; r.at < len(r.lines); r.at++ {
		switch line := r.lines[r.at]; line {
		case ">>>>>>>":
			r.at++
			return parts[0], parts[1], nil
		case "=======":
			part = 1
		default:
			parts[part] += line + "\n"
		}
	}
	return "", "", fmt.Errorf("no >>>>>>>")
}
