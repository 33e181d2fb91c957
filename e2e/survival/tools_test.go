package survival

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"laconic/demo/strict"
)

// way is how a step is said with the tools of some client.
type way struct {
	tool      string
	arguments func(s step, path string) arguments
}

// arguments are those of a call, in the order in which models write them: what
// they are about first.
type arguments []argument

type argument struct {
	name  string
	value any
}

func (a arguments) MarshalJSON() ([]byte, error) {
	var members [][]byte
	for _, m := range a {
		members = append(members, slices.Concat(marshal(m.name), []byte(":"), marshal(m.value)))
	}
	return slices.Concat([]byte("{"), bytes.Join(members, []byte(",")), []byte("}")), nil
}

// ways are the tools of the clients that are known, by what a step does. The
// first is taken that a request offers with all of its arguments.
var ways = map[verb][]way{
	read: {
		{"read_file", func(_ step, path string) arguments { return arguments{{"path", path}} }},
		{"read_file", func(_ step, path string) arguments { return arguments{{"file_path", path}} }},
		{"read", func(_ step, path string) arguments { return arguments{{"filePath", path}} }},
		{"read", func(_ step, path string) arguments { return arguments{{"path", path}} }},
		{"Read", func(_ step, path string) arguments { return arguments{{"file_path", path}} }},
		{"read_files", func(_ step, path string) arguments { return arguments{{"files", []any{arguments{{"path", path}}}}} }},
		{"shell", func(s step, _ string) arguments { return inShell("cat " + s.path) }},
		{"exec_command", func(s step, _ string) arguments { return arguments{{"cmd", "cat " + s.path}} }},
	},
	run: {
		{"run_command", func(s step, _ string) arguments { return arguments{{"command", s.text}} }},
		{"run_shell_command", func(s step, _ string) arguments { return arguments{{"command", s.text}, {"is_background", false}} }},
		{"bash", func(s step, _ string) arguments { return arguments{{"command", s.text}} }},
		{"Bash", func(s step, _ string) arguments { return arguments{{"command", s.text}} }},
		{"run_commands", func(s step, _ string) arguments { return arguments{{"commands", []string{s.text}}} }},
		{"shell", func(s step, _ string) arguments { return inShell(s.text) }},
		{"exec_command", func(s step, _ string) arguments { return arguments{{"cmd", s.text}} }},
	},
	write: {
		{"write_file", func(s step, path string) arguments { return arguments{{"path", path}, {"content", s.text}} }},
		{"write_file", func(s step, path string) arguments { return arguments{{"file_path", path}, {"content", s.text}} }},
		{"write", func(s step, path string) arguments { return arguments{{"filePath", path}, {"content", s.text}} }},
		{"write", func(s step, path string) arguments { return arguments{{"path", path}, {"content", s.text}} }},
		{"Write", func(s step, path string) arguments { return arguments{{"file_path", path}, {"content", s.text}} }},
		{"editor", func(s step, path string) arguments { return arguments{{"path", path}, {"new_text", s.text}} }},
		{"shell", func(s step, _ string) arguments { return inShell(patch("Add", s.path, "", s.text)) }},
	},
	edit: {
		{"edit_file", func(s step, path string) arguments {
			return arguments{{"path", path}, {"old_string", s.old}, {"new_string", s.text}}
		}},
		{"edit", func(s step, path string) arguments {
			return arguments{{"file_path", path}, {"old_string", s.old}, {"new_string", s.text}}
		}},
		{"edit", func(s step, path string) arguments {
			return arguments{{"filePath", path}, {"oldString", s.old}, {"newString", s.text}}
		}},
		{"edit", func(s step, path string) arguments {
			return arguments{{"path", path}, {"edits", []any{arguments{{"oldText", s.old}, {"newText", s.text}}}}}
		}},
		{"Edit", func(s step, path string) arguments {
			return arguments{{"file_path", path}, {"old_string", s.old}, {"new_string", s.text}}
		}},
		{"editor", func(s step, path string) arguments {
			return arguments{{"path", path}, {"old_text", s.old}, {"new_text", s.text}}
		}},
		{"shell", func(s step, _ string) arguments { return inShell(patch("Update", s.path, s.old, s.text)) }},
	},
}

// inShell is how codex is called that speaks the chat API.
func inShell(command string) arguments {
	return arguments{{"command", []string{"bash", "-lc", command}}}
}

// patch is the command by which codex changes files there.
func patch(what, path, old, text string) string {
	return "apply_patch <<'EOF'\n" + patched(what, path, old, text) + "EOF\n"
}

// patched is the text of a patch.
func patched(what, path, old, text string) string {
	var b strings.Builder
	b.WriteString("*** Begin Patch\n*** " + what + " File: " + path + "\n")
	if old != "" {
		b.WriteString("@@\n-" + old + "\n")
	}
	for line := range strings.Lines(text) {
		b.WriteString("+" + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String() + "*** End Patch\n"
}

// call is the step as a call of a tool that the request offers. Clients with a
// folder want whole paths.
func (s step) call(tools []byte, dir string) (c strict.Call, ok bool) {
	type schema struct{ Properties map[string]json.RawMessage }
	type function struct {
		Name       string
		Parameters schema
		Schema     schema `json:"input_schema"` // of the messages API
	}
	var offered []struct {
		Type     string
		Function function
		function // where tools are written flat
	}
	_ = json.Unmarshal(tools, &offered)
	for i := range offered {
		if offered[i].Function.Name == "" {
			offered[i].Function = offered[i].function
		}
		if offered[i].Type != "custom" || offered[i].Name != "apply_patch" {
			continue
		}
		switch s.do {
		case write:
			return strict.Call{Type: "custom", Name: "apply_patch", Arguments: patched("Add", s.path, "", s.text)}, true
		case edit:
			return strict.Call{Type: "custom", Name: "apply_patch", Arguments: patched("Update", s.path, s.old, s.text)}, true
		}
	}
	for _, way := range ways[s.do] {
		arguments := way.arguments(s, filepath.Join(dir, s.path))
		for _, t := range offered {
			if t.Function.Name == way.tool && arguments.fit(t.Function.Parameters.Properties) || t.Name == way.tool && arguments.fit(t.Schema.Properties) {
				return strict.Call{Name: way.tool, Arguments: string(marshal(arguments))}, true
			}
		}
	}
	return c, false
}

func (a arguments) fit(properties map[string]json.RawMessage) bool {
	return !slices.ContainsFunc(a, func(m argument) bool { return properties[m.name] == nil })
}
