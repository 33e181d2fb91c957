package digest

import (
	"fmt"
	"strings"
	"testing"

	"laconic/compact"
)

// A sentence ends where the next one begins, not behind a number or a short form.
func TestSentencesAreWhole(t *testing.T) {
	for _, text := range []string{
		"Nur der Lauf vom 3.9. gilt nicht. |Der Rest bleibt so.", "This must not reach vers. 2.x of the wire. |All others are well.",
		"Set it to approx. 40 s, e.g. in the file. |Then run it.", "The cause is in queue.go:88. |The rest is right.", "Does it work? |yes, it does.", "It was added in 2024. |Nobody uses it.",
	} {
		first, rest, _ := strings.Cut(text, "|")
		if n := sentenceLength(first+rest, 400); n != len(first) {
			t.Errorf("%q ends behind %q", first+rest, (first + rest)[:n])
		}
	}
}

// What an agent found stays, what it says that it does next leaves: the step says
// that. Instructions of a repository hold however long ago they were read.
func TestFindingsStayAndAnnouncementsLeave(t *testing.T) {
	const found, rule = "`core.hooksPath` is not set, so the hook that fails is `.git/hooks/pre-push`.", "- Work goes to `main` through pull requests, with the ticket in the title"
	guide := "# AGENTS.md instructions for /src\n\n<INSTRUCTIONS>\n# Guide\n\n" + strings.Repeat("This paragraph of the guide explains the history of the project at length.\n", 30) + rule + "\n</INSTRUCTIONS>"
	lists := [][]compact.Message{{user(guide)}}
	for i := range 12 {
		says := fmt.Sprintf("Step %d is done. I’m looking at the next module before I touch anything else.", i)
		if i == 2 {
			says = found + " I’ll read the wrapper next, and then I'm going to run the suite again."
		}
		step := run(i, fmt.Sprintf("cat module_%d.txt", i), strings.Repeat("a line of a module\nanother one\n", 20))
		step[0].Parts = user(says).Parts
		lists = append(lists, step)
	}
	tells(t, "findings", recordOf(1600, lists...), "agent: "+found, rule, "read AGENTS.md (", no("I’ll read"), no("I’m looking"), no("I'm going to"))
	step := run(1, "cat log", "x")
	step[0].Parts = user("Still getting 404s. Let me look at the log.").Parts
	tells(t, "few words", recordOf(400, step), "agent: Still getting 404s.\n")
	step[0].Parts = user("Let me rewrite the file — flush has to be inside of the class. Let me look at the log.").Parts
	tells(t, "a reason", recordOf(400, step), "agent: Let me rewrite the file — flush has to be inside of the class.\n")
}

// A short reply says nothing without what it chooses from.
func TestAChosenOptionIsTold(t *testing.T) {
	const options = "Where should the totals be kept?\n\n- **A) In the header** of each file, which the older readers skip.\n" +
		"- **B) In a file beside it**, which has to be written twice.\n- **C) Nowhere**: count them again at each start.\n\n"
	for reply, want := range map[string]string{"B": "B) In a file", "C)": "C) Nowhere", "Bでお願いします": "B) In a file", "(b). And all else stays as it is until we have the numbers of tonight.": "B) In a file"} {
		said := say(user("Add the totals."), assistant(strings.Repeat("The reader of totals.go fails because the header is wrong.\n\n", 12)+options+strings.Repeat("The existing reader should be changed instead, because it returns early.\n\n", 12)), user(reply))
		for i := range 12 {
			said = append(said, assistant(fmt.Sprintf("The reason is that `part_%d.go` returns the wrong count, so it must be changed first.", i)))
		}
		tells(t, reply, recordOf(6200, said), want)
	}
}

// TestAQuestionIsToldWithItsAnswer: what the user agrees to stands at the end of a long message.
func TestAQuestionIsToldWithItsAnswer(t *testing.T) {
	long := ""
	for i := range 60 {
		long += fmt.Sprintf("Shelf %d goes to the header, as before.\n\n", i)
	}
	plain := "\n\n" + strings.Repeat("then we go on as before and look what becomes of it ", 3)
	for question, reply := range map[string]string{"Is that what you meant?": "Yes, that is how I understand it as well, go on with the reader then.", "这是否符合你的理解？": "这符合我的理解，继续。我认为你之前说的初期不把商品细化是对的。"} {
		tells(t, reply, recordOf(600, say(user("Add the totals."), assistant(long+question+plain), user(reply))), " "+question+"\n")
	}
}

// TestWordsComeFirst: what users said comes before what lookups returned, however much it is.
func TestWordsComeFirst(t *testing.T) {
	var said []compact.Message
	var want []string
	for i := range 30 {
		wish := fmt.Sprintf("Accounts of group %d belong to the branch of month %d, so count those there%s.", 40+i, 1+i%12, strings.Repeat(", and say so in the sheet", 24))
		want = append(want, "user: "+wish)
		said = append(append(said, user(wish)), exchange(i, "get_account", fmt.Sprintf(`{"id":%d}`, 100+i), strings.Repeat(fmt.Sprintf("Entry A-%d-77 of account %d failed on 2026-01-0%d, see RB-%[1]d.\n", i, 100+i, 1+i%9), 12))...)
	}
	tells(t, "words", recordOf(6200, said), want...)
}
