package survival

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// language is how the sources and the test run of a workspace look.
type language struct {
	ext       string
	head      string // of a file; %[1]s is its noun, %[2]s the same capitalised
	constant  string // the line that edits change; %[3]d a number
	functions []string
	name      string // of a test
	passes    string // lines of its run
	fails     string // %[1]s the test, %[2]s its file, %[3]d a line
}

var languages = []language{
	{
		".go",
		"package %[1]s\n\nimport (\n\t\"context\"\n\t\"errors\"\n\t\"fmt\"\n\t\"sync\"\n\t\"time\"\n)\n\n// %[2]s keeps what the %[1]s has to know between two rounds.\n" +
			"type %[2]s struct {\n\tmu      sync.Mutex\n\tpending map[string]*%[2]sEntry\n\tceiling time.Duration\n}\n\n",
		"const max%[2]sAttempts = %[3]d",
		[]string{
			"// %[4]s%[5]s reports whether the %[1]s may go on with the %[6]s.\n// Callers must not hold the lock of the %[6]s.\nfunc (x *%[2]s) %[4]s%[5]s(ctx context.Context, %[6]s %[5]sRequest) (bool, error) {\n\tx.mu.Lock()\n\tdefer x.mu.Unlock()\n" +
				"\tif %[6]s.Attempts > max%[2]sAttempts {\n\t\treturn false, fmt.Errorf(\"%[1]s: %%s was tried %%d times\", %[6]s.ID, %[6]s.Attempts)\n\t}\n\tx.pending[%[6]s.ID] = &%[2]sEntry{since: time.Now(), wait: %[3]d * time.Millisecond}\n\treturn true, ctx.Err()\n}\n\n",
			"// err%[4]s%[5]s is returned when the %[6]s of the %[1]s is gone.\nvar err%[4]s%[5]s = errors.New(\"%[1]s: the %[6]s is gone\")\n\nfunc %[4]s%[5]sAfter(d time.Duration) time.Duration {\n\tif d > %[3]d*time.Second {\n\t\treturn %[3]d * time.Second\n\t}\n\treturn d + d/%[7]d\n}\n\n",
			"type %[4]s%[5]sOptions struct {\n\tCeiling   time.Duration // of one wait of the %[1]s\n\tAttempts  int           // %[3]d by default\n\tOn%[5]s func(%[6]sID string) error\n}\n\n",
		},
		"Test%[1]s%[2]s%[3]s",
		"=== RUN   Test%[1]s%[2]s/case_%[3]d\n--- PASS: Test%[1]s%[2]s/case_%[3]d (0.0%[4]ds)\n",
		"=== RUN   %[1]s\n    %[2]s:%[3]d: waited 120s, want at most 30s (the ceiling is not applied)\n--- FAIL: %[1]s (0.03s)\nFAIL\nFAIL\tworkspace/src\t0.412s\n",
	},
	{
		".py",
		"\"\"\"The %[1]s: what it keeps between two rounds.\"\"\"\n\nfrom __future__ import annotations\n\nimport asyncio\nimport logging\nfrom dataclasses import dataclass, field\n\nlog = logging.getLogger(__name__)\n\n\n",
		"MAX_%[8]s_ATTEMPTS = %[3]d",
		[]string{
			"async def %[9]s_%[6]s(self, %[6]s: %[5]sRequest, *, ceiling: float = %[3]d.0) -> bool:\n    \"\"\"Whether the %[1]s may go on with the %[6]s. Must not be called under its lock.\"\"\"\n    async with self._lock:\n        if %[6]s.attempts > MAX_%[8]s_ATTEMPTS:\n" +
				"            raise %[2]sExhausted(f\"%[1]s: {%[6]s.id} was tried {%[6]s.attempts} times\")\n        self._pending[%[6]s.id] = min(ceiling, %[6]s.wait * %[7]d)\n        log.debug(\"%[9]s %%s\", %[6]s.id)\n    return True\n\n\n",
			"@dataclass(slots=True)\nclass %[4]s%[5]s:\n    \"\"\"What the %[1]s knows of one %[6]s.\"\"\"\n\n    id: str\n    attempts: int = %[7]d\n    ceiling: float = %[3]d.5\n    waiting: list[str] = field(default_factory=list)\n\n    def due(self, now: float) -> bool:\n        return now - self.ceiling > %[7]d * 0.5\n\n\n",
			"def _%[9]s_after_%[6]s(seconds: float) -> float:\n    if seconds > %[3]d:\n        return float(%[3]d)\n    return seconds + seconds / %[7]d\n\n\n",
		},
		"test_%[4]s_%[5]s_%[6]s",
		"tests/test_%[5]s.py::test_%[6]s_%[5]s[case-%[3]d] PASSED   [ %[4]d%%]\n",
		"tests/%[2]s:%[3]d: AssertionError: waited 120, want at most 30 (the ceiling is not applied)\nFAILED tests/%[2]s::%[1]s - AssertionError\n1 failed in 0.41s\n",
	},
	{
		".ts",
		"import { EventEmitter } from \"node:events\";\nimport type { Clock, Logger } from \"./types\";\n\n/** What the %[1]s keeps between two rounds. */\nexport interface %[2]sState {\n  pending: Map<string, number>;\n  ceilingMs: number;\n}\n\n",
		"export const max%[2]sAttempts = %[3]d;",
		[]string{
			"/** Whether the %[1]s may go on with the %[6]s. Never call this for a %[6]s that is settled. */\nexport async function %[9]s%[5]s(state: %[2]sState, %[6]s: %[5]sRequest, clock: Clock): Promise<boolean> {\n  if (%[6]s.attempts > max%[2]sAttempts) {\n" +
				"    throw new Error(`%[1]s: ${%[6]s.id} was tried ${%[6]s.attempts} times`);\n  }\n  state.pending.set(%[6]s.id, clock.now() + Math.min(state.ceilingMs, %[3]d * %[6]s.waitMs));\n  return true;\n}\n\n",
			"export class %[4]s%[5]s extends EventEmitter {\n  #attempts = %[7]d;\n\n  constructor(private readonly log: Logger, readonly %[6]sId: string) {\n    super();\n  }\n\n  after(ms: number): number {\n    this.log.debug(\"%[9]s\", this.%[6]sId, this.#attempts++);\n    return ms > %[3]d ? %[3]d : ms + ms / %[7]d;\n  }\n}\n\n",
			"export type %[4]s%[5]sOptions = {\n  ceilingMs?: number; // of one wait of the %[1]s, %[3]d by default\n  on%[5]s?: (%[6]sId: string) => void;\n};\n\n",
		},
		"%[4]s the %[5]s under its %[6]s ceiling",
		" \u2713 src/%[5]s.test.ts > %[6]s the %[5]s, case %[3]d (%[4]dms)\n",
		" FAIL  src/%[2]s > %[1]s\n   AssertionError: waited 120000, want at most 30000 (the ceiling is not applied)\n   at src/%[2]s:%[3]d:18\n Tests  1 failed\n",
	},
}

var verbs = strings.Fields("honour release collect forward resume settle inspect refresh requeue discard promote confirm")

// source is a file of 5 to 8 KB, and the line in it that an edit changes.
func (l language) source(r *rand.Rand, noun string) (text, constant string) {
	size := 5000 + r.IntN(2500)
	number := 3 + r.IntN(90)
	constant = line(l.constant, noun, number, "", "", "", 0)
	var b strings.Builder
	b.WriteString(line(l.head, noun, 0, "", "", "", 0) + constant + "\n\n")
	for _, at := range r.Perm(len(verbs) * len(nounsOfProjects)) {
		if b.Len() > size {
			break
		}
		verb, other := verbs[at%len(verbs)], nounsOfProjects[at/len(verbs)]
		b.WriteString(line(l.functions[r.IntN(len(l.functions))], noun, 10+r.IntN(800), title(verb), title(other), other, 2+r.IntN(7)))
	}
	return b.String(), constant
}

// line fills in a template; templates take what they need.
func line(template, noun string, number int, verb, other, lower string, divisor int) string {
	values := []any{noun, title(noun), number, verb, other, lower, divisor, strings.ToUpper(noun), strings.ToLower(verb)}
	return filled(template, values)
}

// filled is Sprintf for templates that do not use all of their values.
func filled(template string, values []any) string {
	for i, v := range values {
		for _, verb := range []string{"s", "d"} {
			template = strings.ReplaceAll(template, fmt.Sprintf("%%[%d]%s", i+1, verb), fmt.Sprint(v))
		}
	}
	return strings.ReplaceAll(template, "%%", "%")
}

// test is the name of the test that fails.
func (l language) test(r *rand.Rand, noun string) string {
	verb, other := verbs[r.IntN(len(verbs))], nounsOfProjects[r.IntN(len(nounsOfProjects))]
	return filled(l.name, []any{title(verb), title(noun), title(other) + "Ceiling", verb, noun, other})
}

// testRun is what a run of the tests prints: hundreds of tests that pass, and
// one that fails, behind four fifths of them: cline shows its model the first and
// the last 4,000 characters alone.
func testRun(r *rand.Rand, l language, test, file string, nouns []string, count func(string) int) string {
	base := file[strings.LastIndexByte(file, '/')+1:]
	base = strings.TrimSuffix(base, l.ext) + map[string]string{".go": "_test.go", ".py": "_test.py", ".ts": ".test.ts"}[l.ext]
	failure := filled(l.fails, []any{test, base, 20 + r.IntN(300)})
	green := func(text string) string { return text }
	if r.IntN(2) == 0 {
		failure, green = coloured(failure, 31), func(text string) string { return coloured(text, 32) }
	}
	all := grown(r, func(s string) int { return count(s) * 10 / 9 }, func(i int) string {
		verb, noun := verbs[r.IntN(len(verbs))], nouns[1+r.IntN(15)]
		return green(filled(l.passes, []any{title(verb), title(noun), i, 1 + r.IntN(9), noun, verb}))
	})
	at := strings.IndexByte(all[len(all)*4/5:], '\n') + len(all)*4/5 + 1
	return all[:at] + failure + all[at:]
}

// settingsFile is the file that holds the port, in one of six forms.
func settingsFile(r *rand.Rand, thing, port string) (name, text string) {
	upper, owner := strings.ToUpper(thing), fmt.Sprintf("m%s@field.example", thing)
	limit, most, metrics, salt := 5+r.IntN(40), 2+r.IntN(9), 9100+r.IntN(800), fmt.Sprintf("zx81-kappa-%d", 1000+r.IntN(9000))
	switch r.IntN(6) {
	case 0:
		return "config/limits.env", fmt.Sprintf("# delivery worker\nRETRY_CAP=%d\nQUEUE_LIMIT=%d\nMETRICS_PORT=%d\n%s_PORT=%s\n%s_OWNER=%s\nIDEMPOTENCY_SALT=%s\n",
			most, limit, metrics, upper, port, upper, owner, salt)
	case 1:
		return "config/limits.yaml", fmt.Sprintf("attempts:\n  most: %d\n  queue_limit: %d\nmetrics:\n  port: %d\n%s:\n  port: %s\n  owner: %s\n  salt: %s\n",
			most, limit, metrics, thing, port, owner, salt)
	case 2:
		return "config/limits.json", fmt.Sprintf("{\n  \"attempts\": {\"most\": %d, \"queue_limit\": %d},\n  \"metrics\": {\"port\": %d},\n  \"%s\": {\n    \"port\": %s,\n    \"owner\": \"%s\",\n    \"salt\": \"%s\"\n  }\n}\n",
			most, limit, metrics, thing, port, owner, salt)
	case 3:
		return "config/limits.md", fmt.Sprintf("| setting | value | owner |\n|---|---|---|\n| retry cap | %d | delivery |\n| queue limit | %d | delivery |\n| metrics port | %d | platform |\n| %s port | %s | %s |\n| salt | %s | delivery |\n",
			most, limit, metrics, thing, port, owner, salt)
	case 4:
		return "config/limits.ini", fmt.Sprintf("; delivery worker\n[attempts]\nmost = %d\nqueue_limit = %d\n\n[metrics]\nlisten = 0.0.0.0:%d\n\n[%s]\nlisten = 0.0.0.0:%s\nowner = %s\nsalt = %s\n",
			most, limit, metrics, thing, port, owner, salt)
	}
	return "config/README.txt", fmt.Sprintf("The delivery worker tries each message %d times and keeps %d of them in its queue.\nIts metrics are served on port %d. Since the move in March the %s\nlistens on port %s; ask %s before that is moved again.\nThe salt of its keys is %s.\n",
		most, limit, metrics, thing, port, owner, salt)
}
