package demo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// arguments of the tools, in the order a model would write them.
type (
	listArguments struct {
		Path string `json:"path"`
	}
	readArguments struct {
		Path string `json:"path"`
		From int    `json:"from,omitempty"`
		To   int    `json:"to,omitempty"`
	}
	grepArguments struct {
		Pattern string `json:"pattern"`
		Path    string `json:"path"`
	}
	editArguments struct {
		Path string `json:"path"`
		Old  string `json:"old"`
		New  string `json:"new"`
	}
	writeArguments struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	}
	runArguments struct {
		Command string `json:"command"`
	}
)

// call reads one call and plays it.
func (r *storyReader) call() (call, error) {
	mark, rest, _ := strings.Cut(r.lines[r.at], " ")
	tool, rest, _ := strings.Cut(rest, " ")
	words := append(strings.Fields(rest), ".", "0", "0") // what is left out
	r.at++
	switch tool {
	case "list":
		return r.made("list_dir", listArguments{words[0]}, r.w.list(words[0]), nil)
	case "read":
		a := readArguments{Path: words[0]}
		if from, err := strconv.Atoi(words[1]); err == nil {
			a.From = from
			a.To, _ = strconv.Atoi(words[2])
		}
		result, err := r.w.read(a.Path, a.From, a.To)
		return r.made("read_file", a, result, err)
	case "grep":
		result, err := r.w.grep(words[0], words[1])
		return r.made("grep", grepArguments{words[0], words[1]}, result, err)
	case "edit":
		old, new, err := r.block()
		if err != nil {
			return call{}, err
		}
		result, err := r.w.edit(words[0], old, new)
		return r.made("edit_file", editArguments{words[0], old, new}, result, err)
	case "write":
		text, _, err := r.block()
		return r.made("write_file", writeArguments{words[0], text}, r.w.write(words[0], text), err)
	case "run":
		c, err := r.made("run", runArguments{rest}, r.printed(), nil)
		c.interrupted = mark == ">!"
		return c, err
	}
	return call{}, fmt.Errorf("no tool %q", tool)
}

func (r *storyReader) made(name string, arguments any, result string, err error) (call, error) {
	if err != nil {
		return call{}, err
	}
	args, err := json.Marshal(arguments)
	if err != nil {
		return call{}, err
	}
	r.calls++
	sum := sha256.Sum256([]byte("call " + strconv.Itoa(r.calls)))
	return call{id: "call_" + hex.EncodeToString(sum[:])[:24], name: name, arguments: string(args), result: result}, nil
}

// printed takes the recorded output of a command.
func (r *storyReader) printed() string {
	var b strings.Builder
	for ; r.at < len(r.lines) && strings.HasPrefix(r.lines[r.at], "|"); r.at++ {
		b.WriteString(strings.TrimPrefix(strings.TrimPrefix(r.lines[r.at], "|"), " ") + "\n")
	}
	if b.Len() == 0 {
		return "(no output)"
	}
	return b.String()
}
