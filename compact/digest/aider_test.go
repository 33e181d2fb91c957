package digest

import (
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// TestAider says what a record tells of conversations whose calls stand in texts alone.
func TestAider(t *testing.T) {
	f := func(name string, messages []string, texts ...string) {
		t.Helper()
		system := user("Describe each change with a *SEARCH/REPLACE block*.")
		system.Role = compact.System
		list := conversation(say(system), say(user("Go on with the shop.")))
		for i, text := range messages {
			m := assistant(text)
			if i%2 > 0 {
				m = user(text)
			}
			m.Origin = i + 2
			list = append(list, m)
		}
		record := digestOf(list[1:], list[:1], 1200, compacttest.Bytes{})
		checkPart(t, record, 1200, compacttest.Bytes{})
		tells(t, name, record, texts...)
	}
	plan := "1. `shop/rates.go`: the rate of the islands comes from `rates.csv`, not from the code.\n2. Its test reads the same file."
	f("a plan that is sent back", []string{plan, plan + "\n", "Both are as planned.", "ok"},
		"agent: 1. `shop/rates.go`", "\nuser: ok\n", no("user: 1."))
	block := func(path, old, fresh string) string {
		return path + "\n```go\n<<<<<<< SEARCH\n" + old + "=======\n" + fresh + ">>>>>>> REPLACE\n```\n"
	}
	failed := func(path, old, fresh, more string) string {
		return "\n## SearchReplaceNoExactMatch: This SEARCH block failed to exactly match lines in " + path + "\n<<<<<<< SEARCH\n" + old + "=======\n" + fresh + ">>>>>>> REPLACE\n\n" + more
	}
	two := "The limit was read too early.\n\n" + block("src\\limit.go", "limit = 4\n", "limit = load()\n") + "\n" + block("**docs/new.md**", "", "# Limits\n") + "\nRun it."
	f("edits in a text", []string{two, "good"},
		"agent: The limit was read too early.\n …\nedit src/limit.go (+1 −1: limit = load()) → done\nwrite docs/new.md (1 line", "\nchanged: src/limit.go, docs/new.md\n", "as of here, docs/new.md:\n # Limits\n", no("SEARCH"), no("```"))
	f("edits of which one failed", []string{
		block("`a.go`:", "n > 3\n", "n > 5\n") + block("### b.go", "n > 3\n", "n > 5\n") + "\nAnd the port of `run()`:\n```sh\n./run 80\n```\n\n```go\n<<<<<<< SEARCH\nm\n=======\nk\n>>>>>>> REPLACE\n```\n",
		"# 1 SEARCH/REPLACE block failed to match!\n" + failed("b.go", "n > 3\n", "n > 5\n", "Are you sure you need this SEARCH/REPLACE block?\nThe REPLACE lines are already in b.go!\n\n") + "The SEARCH section must exactly match",
	},
		"edit a.go (+1 −1: n > 5) → done\nedit b.go → failed: This SEARCH block failed to exactly match. The REPLACE lines are already in b.go\nedit b.go (+1 −1: k) → done\nchanged: b.go, a.go\n", "agent: And the port of `run()`:\n …\n ./run 80\n ```\nedit", no("result of"), no("user: #"))
	f("edits that were not made", []string{block("a.go", "n > 3\n", "n > 5\n"), "I added these files to the chat: a.go\nLet me know if there are others we should add.", block("a.go", "n > 3\n", "n > 7\n"), "thanks"},
		"edit a.go → failed: I added these files to the chat: a.go\nedit a.go (+1 −1: n > 7) → done\n", no("n > 5"))
	f("a file that grows", []string{block("a.go", "", "package a\n"), "more", block("a.go", " \n", "var n int\n"), "thanks"}, "write a.go (1 line", "edit a.go (+1 −0: var n int)", "\n package a\n", "\n var n int\n")
	f("a plan with blocks", []string{"As follows, if that is what you want.\n\n" + block("a.go", "n > 3\n", "n > 5\n"), "As follows, if that is what you want.\n\n" + block("a.go", "n > 3\n", "n > 5\n"), "No block is needed.", "ok"}, no("edit a.go"), no("changed:"))
	f("a reply that is no form", []string{block("a.go", "n > 3\n", "n > 5\n") + "b.go\n<<<<<<< SEARCH\nm", block("a.go", "n > 3\n", "n > 5\n") + "b.go\n<<<<<<< SEARCH\n\n^^^ Expected `=======`"}, "edit a.go → failed: Expected `=======`\n", no("changed:"), no("user: a.go"))
	f("what the client says", []string{"Made.", "I committed the changes with git hash 1a2b3c4 & commit msg: feat: the rates of islands", "Ok.", "I added these files to the chat: a.go, b c.go\nLet me know if there are others we should add.", block("a.go", "n > 3\n", "n > 5\n"), "I updated the files.", "Ok.", "Ok.\n", "Ok.", "I updated the files.", "I see.", "I committed the changes with git hash 1a2b3c4, look."},
		"agent: Made.\nresult of a tool → I committed the changes with git hash 1a2b3c4 & commit msg: feat: the rates of islands\nedit a.go (+1 −1: n > 5) → done\nuser: Ok.\nagent: Ok.\nuser: I updated the files.\nagent: I see.\nuser: I committed the changes with git hash 1a2b3c4, look.\n", no("I added"))
	f("what the client says of an undo", []string{block("a.go", "n > 3\n", "n > 5\n"), "I did `git reset --hard HEAD~1` to discard the last edits. Please wait for further instructions before attempting that change again.", "Ok"}, "changed: a.go\n", "a.go (it may have changed after that)")
	again := "Let us look at what was found, before the next step."
	f("results of calls in a text, and what a program says each time", []string{"I call `find_class(\"Rate\")`.", "Result of find_class(\"Rate\"):\nFound 1 class:\nclass Rate(Row):\n    zone = None\n\nResult of find_method_in_file(\"load\", \"shop/rates.py\"):\nCould not find load in shop/rates.py.\n", "So be it.", again, "A Rate has a zone.", again, "It is None.", again, "It is.", "stop", "Yes.", "stop"},
		"\nresult of a tool →\n Result of find_class(\"Rate\"):\n Found 1 class:\n", "agent: A Rate has a zone.\nagent: It is None.\nuser: "+again+"\n", "user: stop\nagent: Yes.\nuser: stop\n", no("user: Result"), no("be it.\nuser:"))
	f("a result that shows another", []string{"I look.", "Tool result:\n3 lines\nResult of find_class(\"Rate\"):\nfound", "ok", "ok"}, "result of a tool →\n Tool result:\n 3 lines\n Result of find_class")
	f("examples", []string{"I need the file.", "Add a header to a.go.", block("a.go", "n > 3\n", "n > 5\n"), "I switched to a new code base. Please don't consider the above files or try to edit them any longer.", "Ok.", "Mend it."}, "]\nuser: Mend it.\n[End", no("a.go"), no("I switched"))
	f("a block without a file", []string{block("c.go", "a\n", "b\n") + "\n" + block("For the shop:", "n > 3\n", "n > 5\n"), "ok"}, no("(+1 −1: n > 5)"), "changed: c.go\n")
	f("a short answer that both give", []string{"Keep the port?", "Keep it", "Keep it", "Keep it"}, "user: Keep it\nagent: Keep it\nuser: Keep it\n")
}
