package agent

import (
	"regexp"
	"strings"
)

var (
	// hereString finds a text in a command of PowerShell, and written what writes such a text into a
	// file, with its options.
	hereString = regexp.MustCompile(`(?s)@(?:'[ \t]*\r?\n(?:(.*?)\r?\n)??'|"[ \t]*\r?\n(?:(.*?)\r?\n)??")@`)
	written    = regexp.MustCompile(`(?i)^[ \t]*\|\s*(set-content|add-content|out-file)((?: +(?:'[^'\n]*'|"[^"\n]*"|[^\s;|'"]+))+)`)
	// file finds the file in these, and appends that the text goes behind what is there.
	file    = regexp.MustCompile(`(?i)^(?: +-(?:force|nonewline|append|encoding +\S+))*(?: +-(?:literal|file)?path)? +(?:'([^'$*?]+)'|"([^"$*?]+)"|([^\s$('"*?-][^\s$'",*?]*))(?: +-(?:force|nonewline|append|encoding +\S+))*$`)
	appends = regexp.MustCompile(`(?i) -append\b`)
)

// fileOf returns the change of the file that options name, or of any if nobody knows which it is.
func fileOf(options string) Change {
	if m := file.FindStringSubmatch(options); m != nil {
		return Change{Path: m[1] + m[2] + m[3], How: Written}
	}
	return Change{Path: EveryFile, How: Touched}
}

// hereStrings returns a command of PowerShell without the texts that it writes into files, and these
// changes.
func hereStrings(command string) (rest string, changes []Change) {
	texts := hereString.FindAllStringSubmatchIndex(command, mostChanges)
	if len(texts) == 0 || heredocLine.MatchString(command[:texts[0][0]]) { // in a document of another shell
		return command, nil
	}
	var b strings.Builder
	end, open := 0, 0
	for _, m := range texts {
		open += strings.Count(command[end:m[0]], "{") - strings.Count(command[end:m[0]], "}")
		before := strings.TrimRight(command[end:m[0]], " \t")
		w := written.FindStringSubmatch(command[m[1]:])
		if w == nil || before != "" && !strings.HasSuffix(before, "\n") && !strings.HasSuffix(before, ";") {
			continue
		}
		b.WriteString(command[end:m[0]] + w[1] + w[2])
		end = m[1] + len(w[0])
		c := fileOf(w[2])
		switch text := command[max(m[2], m[4], 0):max(m[3], m[5], 0)]; {
		case c.How == Touched:
		case open > 0: // perhaps
			c.How = Touched
		case m[4] >= 0 && strings.Contains(text, "$"): // variables are put in
			c.How = Changed
		case strings.EqualFold(w[1], "add-content"), appends.MatchString(w[2]):
			c.New, c.How = text, Replaced
		default:
			c.New = text
		}
		changes = append(changes, c)
	}
	return b.String() + command[end:], changes
}
