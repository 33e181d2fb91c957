package e2e

import (
	"encoding/json"

	"laconic/demo/strict"
)

// call is the step as a call of a tool that the request offers.
func (s step) call(tools []byte) strict.Call {
	var offered []tool
	_ = json.Unmarshal(tools, &offered)
	for _, way := range ways[s.do] {
		for _, t := range offered {
			if t.Function.Name == way.tool {
				return strict.Call{Name: way.tool, Arguments: string(marshal(way.arguments(s)))}
			}
		}
	}
	return strict.Call{Name: "missing_tool", Arguments: "{}"}
}

// way is how a step is said with a tool.
type way struct {
	tool      string
	arguments func(step) map[string]any
}

// ways are the tools of the known clients, the first that is offered is taken.
var ways = map[verb][]way{
	read: {
		{"read_file", func(s step) map[string]any { return map[string]any{"path": s.path} }},
	},
	run: {
		{"run_command", func(s step) map[string]any { return map[string]any{"command": s.text} }},
	},
	write: {
		{"write_file", func(s step) map[string]any { return map[string]any{"path": s.path, "content": s.text} }},
	},
	edit: {
		{"edit_file", func(s step) map[string]any {
			return map[string]any{"path": s.path, "old_string": s.old, "new_string": s.text}
		}},
	},
}
