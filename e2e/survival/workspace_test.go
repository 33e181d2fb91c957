package survival

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// workspace is a made-up project with a task, and the facts that are planted in
// it. The same seed makes the same workspace.
type workspace struct {
	files map[string]string // by path
	facts
	holder *strings.Replacer // $NAME of the script
}

// facts are what the agent has to know at its end.
type facts struct {
	port   string   // stands beside the word port, or what listens there
	test   string   // the name of the test that fails
	green  string   // what the tests print when it no longer does
	rules  []string // sentences of the task
	letter string   // words of the first line of a long letter
	cause  string   // what the agent said of a file, and why it matters
	of     string   // that file
	reason string   // why the user refused an edit
}

// maxListing is what the longest result costs the model of a session: a quarter
// of 16,000, so that the newest result always can be there whole.
const maxListing = 4000

// newWorkspace makes the workspace of a seed for a model that counts so.
func newWorkspace(seed uint64, count func(string) int) *workspace {
	r := rand.New(rand.NewPCG(seed, 4127))
	nouns := pick(r, nounsOfProjects, 17)
	thing := nouns[16]
	lang := languages[r.IntN(len(languages))]
	w := &workspace{files: map[string]string{}}
	names := []string{}
	holders := []string{}
	for i, noun := range nouns[:16] {
		name := "src/" + noun + "_" + suffixes[r.IntN(len(suffixes))] + lang.ext
		text, constant := lang.source(r, noun)
		w.files[name] = text
		names = append(names, name)
		holders = append(holders, fmt.Sprintf("$S%02d", i), name, fmt.Sprintf("$CONST%02d", i), constant)
	}
	w.port = fmt.Sprint(41000 + r.IntN(24000))
	w.test = lang.test(r, nouns[0])
	settings, text := settingsFile(r, thing, w.port)
	if r.IntN(2) == 0 {
		text = onWindows(text)
	}
	w.files[settings] = text
	w.green = fmt.Sprintf("all %d tests passed", 300+r.IntN(500))
	w.letter = fmt.Sprintf(closing[r.IntN(len(closing))], tens[r.IntN(len(tens))])
	w.cause, w.of = causes[r.IntN(len(causes))], names[4]
	w.reason = fmt.Sprintf(reasons[r.IntN(len(reasons))], title(nouns[11]))
	w.files["mail/from-the-customer.txt"] = letterFile(r, w.letter, count)
	w.rules = []string{
		fmt.Sprintf(forbidding[r.IntN(len(forbidding))], names[3]),
		fmt.Sprintf(reporting[r.IntN(len(reporting))], thing),
	}
	w.files["TASK.md"] = taskFile(r, w.rules, settings, nouns)
	w.files["run_tests.sh"] = "if grep -q 'at most as long as its ceiling' " + names[8] + "; then echo '" + w.green + " in 0.39s'; exit 0; fi\ncat <<'EOF'\n" + testRun(r, lang, w.test, names[0], nouns, count) + "EOF\nexit 1\n"
	for i := range 3 {
		w.files[fmt.Sprintf("logs/worker-%d.log", i)] = logFile(r, nouns, count)
	}
	holders = append(holders, "$LETTER", "mail/from-the-customer.txt", "$CAUSE", fmt.Sprintf(concluding[r.IntN(len(concluding))], w.of, w.cause), "$SETTINGS", settings, "$WORD", nouns[5], "$THING", thing,
		"$NEW0", "docs/"+nouns[2]+"-limits.md", "$NEW1", "docs/"+nouns[9]+"-rollout.md", "$TEXT0", document(r, nouns), "$TEXT1", document(r, nouns))
	for i := range 4 {
		from := 1000 * (1 + r.IntN(8))
		holders = append(holders, fmt.Sprintf("$SEQ%d", i), fmt.Sprintf("seq %d %d", from, from+longestRun(from, count)))
	}
	w.holder = strings.NewReplacer(holders...)
	return w
}

// longestRun is how many numbers from this one on make a listing of 14 KB, or
// of as many tokens as a listing may cost.
func longestRun(from int, count func(string) int) int {
	n := 2800
	for ; n > 100; n = n * 9 / 10 {
		if count(numbers(from, from+n)) <= maxListing {
			return n
		}
	}
	return n
}

func numbers(from, to int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintln(&b, i)
	}
	return b.String()
}

// grown is text of 11 to 14 KB, or of as many tokens as a listing may cost,
// made of lines.
func grown(r *rand.Rand, count func(string) int, line func(i int) string) string {
	size := 11_000 + r.IntN(3000)
	var b strings.Builder
	spent := 0
	for i := 0; b.Len() < size; i++ {
		l := line(i)
		if spent += count(l) + 1; spent > maxListing {
			break
		}
		b.WriteString(l)
	}
	return b.String()
}

// pick takes n different words, in the order of chance.
func pick(r *rand.Rand, words []string, n int) []string {
	out := make([]string, n)
	for i, at := range r.Perm(len(words))[:n] {
		out[i] = words[at]
	}
	return out
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

var nounsOfProjects = strings.Fields("retry ledger invoice webhook parcel session cursor beacon quota shard lease ticket tariff depot voucher relay " +
	"batch tenant digest outbox catalog pricing refund carrier gateway limiter monitor planner tracker archive mailer breaker")

var suffixes = strings.Fields("queue store worker client policy window router cache table writer")

// The ways in which the two rules are said.
var forbidding = []string{
	"Never change %s.",
	"Do not edit %s: another team owns it.",
	"%s must not be changed.",
	"You must leave %s as it is.",
	"Do not touch %s before the freeze ends.",
	"%s belongs to another team and stays as it is.",
	"The freeze covers %s, whoever asks.",
	"Hands off %s until Thursday.",
}

var reporting = []string{
	"At the end, always report the %s port and the name of the failing test.",
	"Before you finish, you must report the %s port and the name of the failing test.",
	"The final answer must name the %s port and the test that fails.",
	"Only a report that names the %s port and the failing test is accepted.",
	"Your last message names the %s port and the failing test.",
	"We want to read the %s port and the name of the failing test in the report.",
}

// The ways in which a letter says when the books close, and the days.
var (
	closing = []string{"締め日は来月の%s日になり", "請求の締め切りを来月%s日に改め", "帳簿は来月%s日をもって閉じ"}
	tens    = strings.Fields("十一 十二 十三 十四 十六 十七 十八 十九 二十一 二十二 二十三 二十四 二十六 二十七")
)

// What the agent finds out, and how it says so.
var (
	causes = []string{
		"rounds the wait down before the ceiling is looked at", "keeps the remainder in a float and drops its last digit",
		"asks the clock of the caller and not that of the queue", "takes the limit of the first tenant for all others",
	}
	concluding = []string{
		"Root cause: %s %s. So a wait is too long only when the answer asks for a part of a second. Next I look at who calls it.",
		"Now it is clear. %s %s, and the counters of the others follow from that. I go on with the next file.",
		"That explains the late deliveries: %s %s.\n\nNothing else is wrong in it. On to the file beside it.",
	}
	reasons = []string{
		"no, the %s people are rewriting it this week", "leave that one, I promised %s a quiet month", "wait with it until %s has seen the numbers",
	}
)

// letterFile is a letter in Japanese of 11 KB and more. What it asks for stands in
// its first line.
func letterFile(r *rand.Rand, closing string, count func(string) int) string {
	who := strings.Fields("倉庫の担当者 経理部 配送の係 弊社の営業 お客様の窓口 夜間の班")
	did := strings.Fields("伝票を数え直しました 荷物の遅れを詫びました 帳簿の写しを送りました 棚の番号を書き改めました 返品の理由を尋ねました 請求の控えを探しました")
	first := "いつもお世話になっております。" + closing + "ますので、それまでに書類をお届けください。\n\n"
	return first + grown(r, func(s string) int { return count(s) * 10 / 9 }, func(i int) string {
		return fmt.Sprintf("%sは先週も%s。%sに見せたところ、別の%sがもう一度%s。\n", who[r.IntN(len(who))], did[r.IntN(len(did))], who[r.IntN(len(who))], who[r.IntN(len(who))], did[r.IntN(len(did))])
	})
}

// onWindows ends the lines of a text as Windows does.
func onWindows(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }

// coloured shows each line of a text in a colour.
func coloured(text string, colour int) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		fmt.Fprintf(&b, "\x1b[%dm%s\x1b[0m\n", colour, strings.TrimSuffix(l, "\n"))
	}
	return b.String()
}

func taskFile(r *rand.Rand, rules []string, settings string, nouns []string) string {
	all := append([]string{
		"Work in small steps and run the tests after each.",
		fmt.Sprintf("Note every finding in NOTES.md with file and line, such as `src/%s.go:12`.", nouns[1]),
		"New documents belong into docs/.",
		fmt.Sprintf("The limits of the %s stay what %s says.", nouns[4], settings),
		"Never commit what the build generates, and do not rename what other teams import.",
		"A wait must not be longer than the ceiling that is configured for it.",
		fmt.Sprintf("Ask the owner of the %s before you add a dependency.", nouns[9]),
	}, rules...)
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var b strings.Builder
	fmt.Fprintf(&b, "# OPS-4127: the %s forgets its ceiling\n\nSince the last release the %s waits longer than its ceiling when the upstream of the %s asks for it. "+
		"Customers of the %s saw deliveries that came an hour late, and the %s was emptied by hand twice. The settings are in %s. "+
		"The tests are run by `sh run_tests.sh`; one of them fails for the same reason. Read the sources first, because the ceiling is "+
		"applied in more than one place, and the %s and the %s keep counters of their own.\n\n## Rules\n\n",
		nouns[0], nouns[0], nouns[2], nouns[6], nouns[7], settings, nouns[8], nouns[10])
	bullet := r.IntN(2) == 0
	for i, rule := range all {
		if bullet {
			fmt.Fprintf(&b, "- %s\n", rule)
		} else {
			fmt.Fprintf(&b, "%d. %s\n", i+1, rule)
		}
	}
	b.WriteString("\n## Done when\n\nthe tests are green, the findings are written down, and the documents say what changed.\n")
	return b.String()
}

func logFile(r *rand.Rand, nouns []string, count func(string) int) string {
	levels := []string{"INFO", "INFO", "INFO", "WARN", "DEBUG"}
	doing := []string{"took %s", "handed %s on", "waits for %s", "was refused by %s", "wrote %s"}
	minute := r.IntN(60)
	return onWindows(grown(r, count, func(i int) string {
		return fmt.Sprintf("2026-11-%02dT%02d:%02d:%02dZ %-5s %s: %s id=%08x ms=%d\n", 1+i/90, 8+i/60%12, (minute+i)%60, r.IntN(60), levels[r.IntN(len(levels))],
			nouns[r.IntN(16)], fmt.Sprintf(doing[r.IntN(len(doing))], nouns[r.IntN(16)]), r.Uint32(), r.IntN(900))
	}))
}

func document(r *rand.Rand, nouns []string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s and %s\n\n", title(nouns[r.IntN(8)]), nouns[8+r.IntN(8)])
	for range 12 + r.IntN(10) {
		fmt.Fprintf(&b, "The %s asks the %s at most %d times, and hands what is left to the %s, which keeps it for %d minutes.\n",
			nouns[r.IntN(16)], nouns[r.IntN(16)], 2+r.IntN(9), nouns[r.IntN(16)], 5+r.IntN(50))
	}
	return b.String()
}
