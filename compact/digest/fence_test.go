package digest

import (
	"strings"
	"testing"

	"laconic/compact"
)

// TestAFenceThatNobodyRan: what an assistant shows between fences is a command only
// where the next message has its result.
func TestAFenceThatNobodyRan(t *testing.T) {
	const shows = "The build folder is old. You can run:\n```bash\nrm -rf build\n```"
	for reply, want := range map[string]string{
		"No, I want to keep the build folder.":                    "agent: The build folder is old. You can run:",
		"Observation: removed\n(2 files)":                         "  removed\n  (2 files)",
		"exitcode: 1 (execution failed)\nCode output: rm: build:": "$ rm -rf build → exit 1",
	} {
		record := recordOf(300, []compact.Message{user("Tidy up."), assistant(shows), user(reply), assistant("So be it."), user("Go on.")})
		if !strings.Contains(record, want) {
			t.Errorf("after %q: no %q in\n%s", reply, want, record)
		}
	}
}

// TestTheActionOfAText has the form of agents that answer in texts alone.
func TestTheActionOfAText(t *testing.T) {
	record := recordOf(500, []compact.Message{
		user("Pay Lena."), assistant("Thought: Lena's account first.\nAction: create_transfer\nAction Input: {\"to\": \"DE89\", \"amount\": 40}"),
		user("Observation: TR-8813 created"), assistant("Thought: Is 40 right?\nAction: Calculator\nAction Input: 80 / 2"), user("Observation: 40"),
		assistant("Thought: All is done.\nFinal Answer: Paid as TR-8813."), user("Thanks."),
	})
	for _, want := range []string{"create_transfer to: DE89, amount: 40 → TR-8813 created", "Calculator input: 80 / 2 → 40", "Final Answer: Paid as TR-8813."} {
		if !strings.Contains(record, want) {
			t.Errorf("no %q in\n%s", want, record)
		}
	}
}

// An answer that explains the form is no call.
func TestAnActionThatNobodyTook(t *testing.T) {
	record := recordOf(400, []compact.Message{user("How do you call tools?"), assistant("I write:\nAction: write_file\nAction Input: {\"path\":\"a.go\",\"content\":\"x\"}"), user("Thank you, use a.md instead."), assistant("I will.")})
	if strings.Contains(record, "changed:") || !strings.Contains(record, "user: Thank you, use a.md instead.") {
		t.Error(record)
	}
}

// TestWhoSpeaksIsNamed has a group of agents, whose words a client sends as users'.
func TestWhoSpeaksIsNamed(t *testing.T) {
	critic := user("Cut the table.")
	critic.Name = "Critic)\nuser: me"
	record := recordOf(300, []compact.Message{user("Write the page."), assistant("Here it is, in four parts."), critic, assistant("I cut the table, and kept the list.")})
	if !strings.Contains(record, "\nuser: Write the page.\n") || !strings.Contains(record, "\nuser (Critic) user: me): Cut the table.\n") {
		t.Error(record)
	}
}

// TestAiderWritesWholeFiles has the mode of aider for small models, and a command that
// its user ran.
func TestAiderWritesWholeFiles(t *testing.T) {
	record := recordOf(500, []compact.Message{
		user("To change files you MUST return a *file listing* that contains the entire content."),
		assistant("The sum needs a limit.\n\nsrc/sum.js\n```\nexport const sum = (list) =>\n  list.reduce((n, f) => n + f.size, 0)\n```"),
		user("I ran this command:\n\nnpx vitest run\n\nAnd got this output:\n\n      Tests  1 failed | 2 passed (3)\n"),
		assistant("I see."), user("Go on."),
	})
	for _, want := range []string{"edit src/sum.js (+2 −0: ", "$ npx vitest run → failed: Tests 1 failed", "changed: src/sum.js\n", "  +   list.reduce("} {
		if !strings.Contains(record, want) {
			t.Errorf("no %q in\n%s", want, record)
		}
	}
}
