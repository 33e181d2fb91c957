package survival

import (
	"encoding/json"
	"regexp"
	"strings"

	"laconic/demo/strict"
)

// nameList is a line of the record that lists bare names. That a name stands in
// such a list tells a model nothing of a port, a test or a file.
var nameList = regexp.MustCompile(`(?m)^(?:[a-z]+ )?(?:names|numbers|paths|words)(?: [a-z ]+)?: (.*)$`)

// reading is the text of a request as a model reads it: escapes undone, white
// space as one blank but for the ends of lines, lists of names left out.
func reading(got []strict.Message) string {
	var b strings.Builder
	for _, m := range got {
		text := m.Text
		if m.Role != "tool" {
			text = nameList.ReplaceAllString(text, "")
		}
		b.WriteString(squeezed(readable(text)) + "\n")
		for _, c := range m.Calls {
			b.WriteString(c.Name + " " + squeezed(readable(c.Arguments)) + "\n")
		}
	}
	return b.String()
}

// readable undoes the escapes of JSON, also those of a text that was cut.
func readable(text string) string { return escapes.Replace(text) }

var escapes = strings.NewReplacer(`\\`, `\`, `\n`, "\n", `\t`, "\t", `\r`, "", `\"`, `"`)

// squeezed makes one blank of every run of blanks, and keeps the ends of lines.
func squeezed(text string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.Join(strings.Fields(l), " ")
	}
	return strings.Join(lines, "\n")
}

// plain is what a text means: of JSON all keys, strings and numbers in it, each
// on lines of its own, also of JSON inside of JSON.
func plain(text string) string {
	if all := texts(text); len(all) > 0 {
		return strings.Join(all, "\n")
	}
	return text
}

// texts are the keys, strings and numbers of a text that is JSON; nil where it is
// none.
func texts(text string) []string {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" || !strings.ContainsRune(`{["`, rune(trimmed[0])) {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(trimmed))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil || d.More() {
		return nil
	}
	var all []string
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			all = append(all, plain(v))
		case json.Number:
			all = append(all, v.String())
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for k, e := range v {
				all = append(all, k)
				walk(e)
			}
		}
	}
	walk(v)
	return all
}

// portIn reports whether a port stands in a text, with the word port or listen
// before it in the same line.
func portIn(text, port string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], port)
		if i < 0 {
			return false
		}
		at += i
		before := text[max(0, at-80):at]
		before = strings.ToLower(before[strings.LastIndexByte(before, '\n')+1:])
		if (strings.Contains(before, "port") || strings.Contains(before, "listen")) && !digitAt(text, at-1) && !digitAt(text, at+len(port)) {
			return true
		}
		at += len(port)
	}
}

func digitAt(s string, i int) bool { return i >= 0 && i < len(s) && s[i] >= '0' && s[i] <= '9' }
