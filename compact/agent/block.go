package agent

import (
	"regexp"
	"strings"
)

// ExamplesEnd is what Aider says behind the examples that it puts before a conversation.
const ExamplesEnd = "I switched to a new code base. Please don't consider the above files or try to edit them any longer."

// EditsIn returns the edits that Aider makes of blocks of SEARCH and REPLACE in a text of the
// assistant, and the text without them. Blocks whose file is not named stay in it.
func EditsIn(text string) (edits []*Action, rest string) {
	var b strings.Builder
	path, from := "", 0
	for _, m := range searchBlock.FindAllStringSubmatchIndex(text, mostChanges) {
		before, block := text[from:m[0]], text[m[0]:m[1]]
		from = m[1]
		at := fileAbove.FindStringSubmatchIndex(before)
		if at != nil {
			path = strings.TrimPrefix(strings.TrimRight(before[at[2]:at[3]], ":"), "./")
		} else if at = sameFile.FindStringIndex(before); path == "" || at == nil {
			path = ""
			b.WriteString(before + block)
			continue
		}
		from += len(blockEnd.FindString(text[from:]))
		args := Value{kind: '{', Text: block, keys: []string{"path", "search", "replace"}}
		for _, arg := range []string{path, text[m[2]:m[3]], text[m[4]:m[5]]} {
			args.list = append(args.list, Value{kind: '"', Text: strings.TrimSuffix(arg, "\n")})
		}
		a := actionOf("edit", args)
		if a.RunsFrom(""); strings.TrimSpace(a.Changes[0].Old) == "" {
			a.Changes[0].Old, a.Changes[0].How = "", Written
		}
		edits = append(edits, a)
		b.WriteString(before[:at[0]] + "\n")
	}
	return edits, b.String() + text[from:]
}

// NotMade returns why Aider did not make an edit of a text, or "", by the message that comes next in
// the place of the user, without blanks around it, and reports whether that only says what came of
// the edits.
func (a *Action) NotMade(next string) (why string, only bool) {
	if m := notMade.FindStringSubmatch(lastBytes(next, 4000)); m != nil {
		return m[1] + m[2], true
	}
	if BlocksFailed(next) == "" {
		return "", next == "I updated the files."
	}
	path, search := a.Values.Member("path"), strings.TrimSpace(a.Values.Member("search"))
	for _, part := range strings.Split(next, "\n## SearchReplaceNoExactMatch: ")[1:] {
		if m := failedIn.FindStringSubmatch(part); m != nil && (m[1] == path || strings.HasSuffix(m[1], "/"+path) || strings.HasSuffix(path, "/"+m[1])) && strings.Contains(part, "\n"+search+"\n=====") {
			if why = "This SEARCH block failed to exactly match"; strings.Contains(part, "The REPLACE lines are already in ") {
				why += ". The REPLACE lines are already in " + path
			}
			return why, true
		}
	}
	return "", true
}

// BlocksFailed returns how Aider says that it did not find some blocks, or "".
func BlocksFailed(next string) string {
	if m := blocksFailed.FindStringSubmatch(next); m != nil {
		return m[1]
	}
	return ""
}

// IsAiders reports whether a text is one that Aider writes beside the user's words.
func IsAiders(text string) bool {
	return strings.Contains(text, "*SEARCH/REPLACE block*") || strings.Contains(text, "I have *added these files to the chat*") ||
		strings.Contains(text, "I added these files to the chat: ") || BlocksFailed(text) != ""
}

var (
	// fileAbove finds the name of a file on the line above a block, which may be in a fence, and
	// sameFile that none has: a block is of the file of the one before. blockEnd finds what ends a block.
	fileAbove = regexp.MustCompile("(?:\\A|\n)(?:[ \t]*```[^\n]*\n)?[ \t#*`]*([^\\s<>\"|?*`]*[./\\\\]\\w[^\\s<>\"|?*`]*)[*`:]*[ \t]*\n(?:[ \t]*```[^\n]*\n){0,2}\\z")
	sameFile  = regexp.MustCompile("(?:\\A\\s*|\n[ \t]*\n)(?:[ \t]*```[^\n]*\n)?\\z")
	blockEnd  = regexp.MustCompile("\\A[^\n]*(?:\n[ \t]*```+[ \t]*(?:\n|\\z))?")
	// blocksFailed finds how Aider says that it did not find some blocks, and failedIn the file of one.
	blocksFailed = regexp.MustCompile(`\A# (\d+ SEARCH/REPLACE blocks? failed to match)!\n`)
	failedIn     = regexp.MustCompile(`\AThis SEARCH block failed to exactly match lines in (\S+)`)
	// notMade finds how Aider says that it made no edit: where a reply names files that it has not
	// shown, it shows these first.
	notMade = regexp.MustCompile(`\A(I added these files to the chat: .*)\nLet me know if there are others we should add\.\s*\z|\n\^\^\^ ((?:Expected \x60|Bad/missing filename).*)\s*\z`)
)
