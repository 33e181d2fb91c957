package agent

import (
	"strconv"
	"strings"
	"testing"
)

// Programs say in many ways that they failed. Each is found in what is printed
// around it, without the code that the program ended with.
func TestFailuresAreFound(t *testing.T) {
	for name, output := range map[string]string{
		"permission denied": "copying build/app to /usr/local/bin\ncp: cannot create regular file '/usr/local/bin/app': Permission denied\n",
		"make": "gcc -c -o parse.o parse.c\nparse.c: In function 'next':\nparse.c:41:9: warning: unused variable 'n' [-Wunused-variable]\nmake[1]: *** [Makefile:12: parse.o] Error 2\nmake[1]: Leaving directory '/src/lib'\n" +
			"make: *** [Makefile:4: all] Error 2\n",
		"an exit code alone":   "<returncode>3</returncode>\n<output>\n</output>",
		"a timeout":            "waiting for db:5432\nwaiting for db:5432\nCommand timed out after 120 seconds\n",
		"npm":                  "npm ERR! code ERESOLVE\nnpm ERR! ERESOLVE unable to resolve dependency tree\nnpm ERR!\nnpm ERR! Found: react@17.0.2\nnpm ERR! A complete log of this run can be found in: /root/.npm/_logs/a.log\n",
		"npm 11":               "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/left-pab\nnpm error A complete log of this run can be found in: /root/.npm/_logs/b.log\n",
		"rustc":                "   Compiling money v0.1.0 (/src/money)\nerror[E0308]: mismatched types\n  --> src/main.rs:7:18\n   |\n7  |     let n: i32 = \"5\";\n   |            ---   ^^^ expected `i32`, found `&str`\n\nFor more information about this error, try `rustc --explain E0308`.\nerror: could not compile `money` (bin \"money\") due to 1 previous error\n",
		"tsc":                  "> web@1.0.0 build\n> tsc -p .\n\nsrc/totals.ts(12,7): error TS2322: Type 'string' is not assignable to type 'number'.\nsrc/totals.ts(19,3): error TS2304: Cannot find name 'rates'.\n",
		"jest":                 " FAIL  src/totals.test.ts\n  ● totals › adds a yen\n\n    expect(received).toBe(expected)\n\n    Expected: 1032\n    Received: 1031\n\nTests:       1 failed, 4 passed, 5 total\nSnapshots:   0 total\nTime:        1.204 s\nRan all test suites.\n",
		"go test":              "=== RUN   TestListen\n    app_test.go:17: got 80, want 8080\n--- FAIL: TestListen (0.00s)\nFAIL\nFAIL\texample.com/app\t0.012s\nFAIL\n",
		"pytest":               "tests/test_money.py .F.                     [100%]\n\n=========== FAILURES ===========\n    def test_yen():\n>       assert total(3) == 1032\nE       assert 1031 == 1032\n\ntests/test_money.py:9: AssertionError\n=========== short test summary info ===========\nFAILED tests/test_money.py::test_yen - assert 1031 == 1032\n========= 1 failed, 2 passed in 0.03s =========\n",
		"HTTP 403":             "  % Total    % Received % Xferd\n  0     0    0     0    0     0      0      0 --:--:-- --:--:--     0\ncurl: (22) The requested URL returned error: 403\n",
		"HTTP 403 by its line": "> GET /v1/items\n< HTTP/1.1 403 Forbidden\n< content-length: 0\n",
		"a merge conflict":     "Auto-merging lib/money.py\nCONFLICT (content): Merge conflict in lib/money.py\nAutomatic merge failed; fix conflicts and then commit the result.\n",
		"a segmentation fault": "loading 12 tables\nSegmentation fault (core dumped)\n",
		"Killed":               "epoch 1/10\nepoch 2/10\nKilled\n",
		"Docker":               "Cannot connect to the Docker daemon at unix:///var/run/docker.sock. Is the docker daemon running?\n",
		"command not found":    "bash: line 1: pnpm: command not found\n",
		"apt":                  "Reading package lists... Done\nE: Unable to locate package maven\n",
		"no such file":         "cat: config/prod.yaml: No such file or directory\n",
		"panic":                "serving at :8080\npanic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/app/main.go:14 +0x1d\nexit status 2\n",
		"a traceback":          "reading rates\nTraceback (most recent call last):\n  File \"/src/app.py\", line 8, in <module>\n    main()\n  File \"/src/app.py\", line 4, in main\n    rates[\"JPY\"]\nKeyError: 'JPY'\n",
		"in German":            "Lese Kurse\nFehler: Die Datei kurse.csv wurde nicht gefunden.\n",
		"in Japanese":          "レートを読み込んでいます\nエラー: rates.csv を開けません\n",
		"in Chinese":           "正在读取汇率\n错误：无法打开 rates.csv\n",
	} {
		r := ResultOf(output, Runs)
		a := ActionOf("bash", `{"command":"./check.sh"}`)
		if o := a.OutcomeOf(r); o.Verdict != Failed || o.Says == "" && !r.Coded {
			t.Errorf("%s: %+v", name, o)
		}
		if name == "an exit code alone" {
			continue
		}
		found := false
		for line := range strings.SplitSeq(r.Text, "\n") {
			found = found || IsFailure(line)
		}
		if !found {
			t.Errorf("%s: no line of it is a failure", name)
		}
	}
}

// Source code, documents and logs that speak of failures are none.
func TestNoFailures(t *testing.T) {
	for name, c := range map[string]struct{ command, output string }{
		"code that was read":  {"cat lib/money.py", "def rate(name):\n    try:\n        return table[name].value\n    except AttributeError:\n        return None\n    except (KeyError, ValueError) as error:\n        raise RateError(\"no rate\") from error\n"},
		"code after a build":  {"go build ./... && cat app.go", "func run() error {\n\tif err != nil {\n\t\treturn fmt.Errorf(\"listen: %w\", err)\n\t}\n\tlog.Fatal(\"failed to listen\")\n\tthrow new TypeError(\"x\");\n}\n"},
		"a diff":              {"git status && git diff", "On branch main\n\tmodified:   app.go\n\n@@ -1,3 +1,4 @@\n func f() {\n+\tlog: silent{}, // no warnings on timeout: expected, failed calls are dropped\n-\tError: text,\n"},
		"commits":             {"git -C /src log --oneline -3", "ef43775 Document the review\n5913a8e Fix isIdle failing in detached processes\n"},
		"a code of 0":         {"python try.py", "<returncode>0</returncode>\n<output>\ncaught:\nError: not a number\n</output>"},
		"no errors":           {"mise run lint", "checked 14 files\n0 errors, 0 warnings\n"},
		"errors: none":        {"./validate", "valid: true, warnings: [], errors: none\n"},
		"passing tests":       {"go test -v ./...", "--- PASS: TestTimeoutFailed (0.00s)\nok  \texample.com/app\t0.01s\n"},
		"a log with times":    {"./serve --once", "2026/01/16 10:01:18 ERROR level is off\n2026/01/16 10:01:18 served 3\n2026/01/16 10:01:19 a\n2026/01/16 10:01:19 b\n2026/01/16 10:01:19 c\n2026/01/16 10:01:19 d\n2026/01/16 10:01:19 bye\n"},
		"help":                {"tool --help | grep -A1 save", "  --save      Save the session\n  --no-save   Disable saving, sessions cannot be resumed (only with --print)\n"},
		"an answer of a call": {"", "# Hooks\n\nA hook that failed: the command exits with code 2.\n\nError: is printed to stderr.\n"},
	} {
		a := ActionOf("bash", `{"command":`+strconv.Quote(c.command)+`}`)
		if c.command == "" {
			a = ActionOf("fetch_page", `{"url":"https://example.com"}`)
		}
		r := ResultOf(c.output, a.Kind)
		if o := a.OutcomeOf(r); o.Verdict == Failed {
			t.Errorf("%s: %+v", name, o)
		}
		if name != "code that was read" && name != "code after a build" {
			continue
		}
		for line := range strings.SplitSeq(r.Text, "\n") {
			if IsFailure(line) {
				t.Errorf("%s: %q is told as a failure", name, line)
			}
		}
	}
}
