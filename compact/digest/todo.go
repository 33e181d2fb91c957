package digest

import (
	"regexp"
	"strings"
)

// todo is the list of tasks that calls keep, as the last of them left it.
type todo []task

type task struct{ id, text, status string }

// The names that agents give to the members of a task.
const (
	taskTexts = "content step subject title task description text"
	taskIDs   = "taskId task_id id"
)

// taskNumber finds the number of a task that was added, in the result of the call.
var taskNumber = regexp.MustCompile(`#(\d+)`)

// track takes what a call makes of the list: the whole of it, a task more, or another
// status of one.
func (t *todo) track(e *event) {
	if e.outcome.verdict == failed || e.outcome.verdict == refused {
		return
	}
	v := &e.values
	if list := v.tasks(); list != nil {
		*t = nil
		for i := range list {
			m := &list[i]
			*t = append(*t, task{m.member(taskIDs), m.member(taskTexts), m.member("status")})
		}
		return
	}
	id, text, status := v.member(taskIDs), v.member(taskTexts), v.member("status")
	for i := range *t {
		if was := &(*t)[i]; id != "" && was.id == id {
			was.text, was.status = either(v.member("subject title"), was.text), either(status, was.status)
			return
		}
	}
	if m := taskNumber.FindStringSubmatch(firstBytes(e.result.text, 200)); id == "" && text != "" && m != nil {
		*t = append(*t, task{m[1], text, either(status, "pending")})
	}
}

// tasks returns the tasks of arguments that hold a whole list, or nil.
func (v *value) tasks() []value {
	for i := range v.list {
		if m := &v.list[i]; m.kind == '[' && len(m.list) > 0 && m.list[0].member(taskTexts) != "" {
			return m.list
		}
	}
	return nil
}

// line returns the list on one line, in at most some bytes for a task.
func (t todo) line(n int) string {
	var b strings.Builder
	for _, k := range t {
		if k.status != "deleted" {
			b.WriteString("; " + OneLine(k.text, n) + " (" + either(OneLine(k.status, 16), "open") + ")")
		}
	}
	return strings.TrimPrefix(b.String(), "; ")
}
