package digest

import (
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/agent"
)

// TestHowStepsEnd says what labels tell of ends: data that speaks of failures is none.
func TestHowStepsEnd(t *testing.T) {
	for _, c := range [][4]string{ // a tool, its arguments, its result, the label
		{"refund", `{"id":5}`, `{"error":null,"data":{"id":7}}`, "refund id: 5 → error: null, data: id 7"},
		{"refund", `{"id":5}`, `{"errors":[],"refund":"r7"}`, "refund id: 5 → errors: [], refund: r7"},
		{"refund", `{"id":5}`, `{"invalid":0,"fail_rate":0.1}`, "refund id: 5 → invalid: 0, fail_rate: 0.1"},
		{"refund", `{"id":5}`, `{"id":5,"state":"FAILED","error":"card expired"}`, "refund id: 5 → id: 5, state: FAILED, error: card expired"},
		{"refund", `{"id":5}`, `{"error":{"code":"NO_CONSENT","message":"ask first"}}`, "refund id: 5 → failed: error: code NO_CONSENT, message ask first"},
		{"refund", `{"id":5}`, `{"status":"error","request_id":"req_0194b2c6f0a87d51b3c1f6e8a2d4c7b9_of_the_shop_in_the_north_of_the_town","error_message":"The card of the customer has expired."}`, "refund id: 5 → failed: status: error, request_id: req_0194b2c6f0a87d51b3c1f6e8a2d4c7b9_of_the_shop_in_the_north_of_the_town error_message: The card of the customer has expired."},
		{"refund", `{"id":5}`, `{"success":false,"message":"closed"}`, "refund id: 5 → failed: success: false, message: closed"},
		{"refund", `{"id":5}`, `[{"type":"text","text":"{\"isError\":true,\"content\":\"closed\"}"}]`, "refund id: 5 → failed: closed"},
		{"refund", `{"id":5}`, "Order 5: payment failed, refused by the bank", "refund id: 5 → Order 5: payment failed, refused by the bank"},
		{"refund", `{"id":5}`, "HTTP 503 Service Unavailable", "refund id: 5 → failed: HTTP 503 Service Unavailable"},
		{"roll_back", `{"id":5}`, `[{"type":"text","text":"received response code 422: refused: the migration of 1.65 cannot be undone"}]`, "roll_back id: 5 → failed: received response code 422: refused: the migration of 1.65 cannot be undone"},
		{"roll_back", `{"id":5}`, "Denied by anika.r: first the flag, then ask me again.", "roll_back id: 5 → failed: Denied by anika.r: first the flag, then ask me again."},
		{"refund", `{"id":5}`, "MCP error -32602: no such tool", "refund id: 5 → failed: MCP error -32602: no such tool"},
		{"ticket", `{"id":5}`, "Access denied tickets (4): reset the key", "ticket id: 5 → Access denied tickets (4): reset the key"},
		{"grep", `{"pattern":"panic"}`, `lib/x.rb:7: raise ArgumentError, "error: no id"`, `grep panic → lib/x.rb:7: raise ArgumentError, "error: no id"`},
		{"read_file", `{"path":"a.rb"}`, "Error: ENOENT: no such file or directory, open 'a.rb'", "read a.rb → failed: Error: ENOENT: no such file or directory, open 'a.rb'"},
		{"query", `{"query":"select 1"}`, "Error: (sqlite3.OperationalError) no such column: a\n[SQL: select 1\nfrom b\nwhere c]\n(see the manual)", "query select 1 → failed: Error: (sqlite3.OperationalError) no such column: a"},
		{"bash", `{"command":"git log -2"}`, "5dad981 fix: error: not found", "$ git log -2 → 5dad981 fix: error: not found"},
		{"read_file", `{"path":"a.json"}`, "{\n  \"limit\": 3,\n  \"zones\": [\"north of the river\", \"south of the river\"],\n  \"rates\": [\"of the north, by the kilometre\", \"of the south, by the mile and by the weight of what is sent\"]\n}", "read a.json (JSON)"},
		{"bash", `{"command":"ls"}`, "ERROR.md", "$ ls → ERROR.md"},
		{"bash", `{"command":"tide watch"}`, "Exit code 1\nTraceback (most recent call last):\n  File \"/t/watch.py\", line 8, in main\n    port.open()\nserial.error: (2, 'no port')\n\n====\n\nSomething broke. Please\n\n* report it to\n  https://tides.example/issues\n\n====", "$ tide watch → exit 1: serial.error: (2, 'no port')"},
		{"todo_write", `{"todos":[{"content":"Sort","status":"pending"}]}`, "[Mode: plan] 'todo_write' is blocked here. Ask first.", "todo_write todos: [content Sort, status pending] → failed: [Mode: plan] 'todo_write' is blocked here. Ask first."},
		{"bash", `{"command":"cat out.txt"}`, "error: 3 rows not found", "$ cat out.txt → error: 3 rows not found"},
		{"bash", `{"command":"cat out.txt"}`, "cat: out.txt: No such file or directory", "$ cat out.txt → failed: cat: out.txt: No such file or directory"},
		{"bash", `{"command":"npm run herd"}`, "feeds=400 requests=10400 failed=2400 peak=160", "$ npm run herd → feeds=400 requests=10400 failed=2400 peak=160"},
		{"bash", `{"command":"python sum.py"}`, "failed     12", "$ python sum.py → failed     12"},
		{"bash", `{"command":"python sum.py"}`, "     n  mean\nD   12  0.25\nE    3  0.75", "$ python sum.py →"},
		{"bash", `{"command":"npx eslint ."}`, "a.js\n  3:7  warning  no-var\n\n✖ 2 problems (0 errors, 2 warnings)", "$ npx eslint . → ✖ 2 problems (0 errors, 2 warnings)"},
		{"bash", `{"command":"npx eslint ."}`, "a.js\n  3:7  error  no-var\n\n✖ 2 problems (1 error, 1 warning)", "$ npx eslint . → failed: ✖ 2 problems (1 error, 1 warning)"},
		{"bash", `{"command":"./bench.sh"}`, "Error: cannot open in.bin\n# Pass 3 of 3\nfinished at last", "$ ./bench.sh → failed: Error: cannot open in.bin"},
		{"bash", `{"command":"npm test -- --x"}`, "ℹ tests 9\nℹ pass 2\nℹ fail 0\nℹ cancelled 7", "$ npm test -- --x → failed: ℹ cancelled 7"},
		{"execute_sql", `{"sql":"CALL purge_tenant('acme')"}`, "The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\nnever purge acme", `execute_sql sql: CALL purge_tenant('acme') → refused by the user, who said: "never purge acme"`},
		{"db", `{"sql":"select pg_terminate_backend(pid) from pg_stat_activity"}`, "3", "db sql: select pg_terminate_backend(pid) from pg_stat_activity → 3"},
		{"bash", `{"command":"npm test"}`, "✔ 7 errors are told (1ms)\nℹ tests 1\nℹ pass 1\nℹ fail 0\nℹ cancelled 0", "$ npm test → ℹ pass 1"},
		{"bash", `{"command":"npm test"}`, "✔ a (1ms)\n✖ b (2ms)\nℹ tests 2\nℹ pass 1\nℹ fail 1\n\n✖ failing tests:\n\ntest at b.js:7:3\n✖ b (2ms)", "$ npm test → failed: ✖ b (2ms)"},
		{"read", `{"file_path":"a.rb"}`, "<tool_use_error>File does not exist.</tool_use_error>", "read a.rb → failed: File does not exist."},
		{"view", `{"path":"a.rb"}`, "x = 1\ny = 2\n<response clipped><NOTE>To save on context only part of this file has been shown to you.</NOTE>", "read a.rb (2 lines of it)"},
		{"bash", `{"command":"make report"}`, `{"output":"row one\nrow two<response clipped><NOTE>Cut.</NOTE>","exit_code":3}`, "$ make report → exit 3: row two<response clipped><NOTE>Cut.</NOTE>"},
		{"bash", `{"command":"pytest -q"}`, "3 passed so far<response clipped><NOTE>Cut.</NOTE>", "$ pytest -q → 3 passed so far<response clipped><NOTE>Cut.</NOTE>"},
		{"view", `{"path":"a.rb"}`, "4\tx = 1\n5\ty = 2\n6\ty = 2\n40\tz = 1\n41\tz = 2", "read a.rb (5 lines)"},
		{"view", `{"path":"a.rb"}`, "puts 'truncated [x]'\nputs 2", "read a.rb (2 lines)"},
		{"bash", `{"command":"pytest -q && python load.py"}`, "2 passed in 0.1s\nTraceback (most recent call last):\n  File \"load.py\", line 3\nhttpx.ReadError: reset\nsent: 40", "$ pytest -q && python load.py → failed: httpx.ReadError: reset"},
		{"bash", `{"command":"npx jest && ./serve"}`, "Tests:  4 passed, 4 total\nA worker process has failed to exit gracefully", "$ npx jest && ./serve →"},
		{"bash", `{"command":"cargo build"}`, "error[E0599]: no method named `len`\n --> src/a.rs:7:3\n\nerror: could not compile `a` (lib) due to 1 previous error", "$ cargo build → failed: error[E0599]: no method named `len`"},
		{"bash", `{"command":"cargo build"}`, "    Checking a v1.0.0\n    Finished `dev` profile in 2.1s", "$ cargo build → Finished `dev` profile in 2.1s"},
		{"bash", `{"command":"gradle test"}`, "OrderTest > cancels() FAILED\n    java.lang.IllegalStateException: closed\n        at Order.java:41\n\n9 tests completed, 1 failed\n\nFAILURE: Build failed with an exception.", "$ gradle test → failed: OrderTest > cancels() FAILED"},
		{"bash", `{"command":"npx vitest run"}`, " FAIL  src/b.test.ts > cart > adds\nAssertionError: expected 2 to be 3\n\n      Tests  1 failed | 3 passed (4)", "$ npx vitest run → failed: FAIL src/b.test.ts > cart > adds"},
		{"bash", `{"command":"./eval run"}`, "Target: local\n===\nRESULT: PASS (3/3 scored, mean: 91%)\n===\nIndex: out/a.jsonl\nFiles: out (3 test directories)\n" + strings.Repeat("bucket: 0\n", 12), "$ ./eval run →"},
		{"bash", `{"command":"./eval run"}`, "RESULT: FAIL (0/3 scored)\nIndex: out/a.jsonl", "$ ./eval run → failed: RESULT: FAIL (0/3 scored)"},
		{"bash", `{"command":"go test ./... && npm test"}`, "ok  \ta/b\t0.2s\n> a Promise<Note> is missing\nTests: 3 failed, 1 passed", "$ go test ./... && npm test → failed: Tests: 3 failed, 1 passed"},
		{"bash", `{"command":"./list"}`, "out/a.jsonl\nout (3 test directories)", "$ ./list →"},
		{"bash", `{"command":"terraform apply"}`, "a.b: Creating...\nApply complete! Resources: 1 added, 0 changed, 0 destroyed.", "$ terraform apply → Apply complete! Resources: 1 added, 0 changed, 0 destroyed."},
		{"bash", `{"command":"terraform plan"}`, "Plan: 2 to add, 0 to change, 1 to destroy.\n" + strings.Repeat("  + a = 1\n", 12) + "Saved the plan to: tfplan", "$ terraform plan → Plan: 2 to add, 0 to change, 1 to destroy."},
		{"bash", `{"command":"terraform init"}`, "Command failed with exit code 1.\nOutput:\n╷\n│ Error: No configuration files\n│\n│ Plan requires configuration.\n╵", "$ terraform init → exit 1: │ Error: No configuration files"},
		{"edit", `{"path":"a.rb","old":"a","new":"b"}`, "Edits were made, but none of them could be applied to the file.", "edit a.rb → failed: Edits were made, but none of them could be applied to the file."},
		{"edit", `{"path":"a.rb","old":"a","new":"b"}`, "Applied 2 of 3 changes. Change 3 failed: not unique.", "edit a.rb → Applied 2 of 3 changes. Change 3 failed: not unique."},
		{"bash", `{"command":"dotnet test"}`, "Failed! - Failed: 2, Passed: 6, Total: 8 - A.dll\nPassed! - Failed: 0, Passed: 42, Total: 42 - B.dll", "$ dotnet test → failed: Failed! - Failed: 2, Passed: 6, Total: 8 - A.dll"},
		{"bash", `{"command":"npx playwright test"}`, "  1 failed\n    cart.spec.ts:4 › pays\n  2 passed (5s)", "$ npx playwright test → failed: 1 failed"},
		{"bash", `{"command":"npx jest foo"}`, "No tests found, exiting with code 1\nRun with --passWithNoTests to exit with code 0", "$ npx jest foo → failed: No tests found, exiting with code 1"},
		{"bash", `{"command":"terraform apply"}`, "Plan: 0 to add, 1 to change, 0 to destroy.\n\nApply cancelled.", "$ terraform apply → failed: Apply cancelled."},
		{"bash", `{"command":"bundle exec rspec"}`, "5 examples\n\nFailed examples:\n\nrspec ./a_spec.rb:4", "$ bundle exec rspec →"},
		{"bash", `{"command":"git push origin main"}`, "remote: error: GH006\n ! [remote rejected] main -> main (protected branch hook declined)\nerror: failed to push some refs to 'x'", "$ git push origin main → failed: ! [remote rejected] main -> main (protected branch hook declined)"},
		{"bash", `{"command":"sleep 99"}`, "Command timed out after 30s and was moved to the background with ID: bash_3", "$ sleep 99 → failed: Command timed out after 30s and was moved to the background with ID: bash_3"},
		{"bash", `{"command":"printf x >> a"}`, "[The command completed with exit code 0.]\n[Current working directory: /w]\n[Python interpreter: /usr/bin/python]\n[Command finished with exit code 0]", "$ printf x >> a → exit 0, no output"},
		{"bash", `{"command":"rm a"}`, "The user has declined to run this tool. DO NOT attempt to call this tool again.", "$ rm a → refused by the user"},
		{"bash", `{"command":"rm a"}`, "Permission to run tool denied by user", "$ rm a → refused by the user"},
		{"bash", `{"command":"rm a"}`, "Permission to use Bash with command rm a has been denied.", "$ rm a → refused by the user"},
		{"bash", `{"command":"rm a"}`, "[Operation Cancelled] Reason: User did not allow tool call", "$ rm a → refused by the user"},
		{"bash", `{"command":"make deploy"}`, "User cancelled the command after 3s. Output so far:\nweb1 done", "$ make deploy →"},
		{"edit", `{"path":"a.rb","old":"a","new":"b"}`, "Queued for review. It will be applied after approval.", "edit a.rb → Queued for review. It will be applied after approval."},
		{"edit", `{"path":"a.rb","old":"a","new":"b"}`, "Applied 3 of 3 changes.", "edit a.rb (+1 −1: b) → done"},
		{"sign_document", `{"file":"c.pdf"}`, "signed", "sign_document file: c.pdf → signed"},
		{"getFileContents", `{"path":"c.md"}`, "# C\nd", "read c.md (2 lines)"},
		{"remove_permission", `{"path":"f.pdf","user":"bo"}`, "Permission removed", "remove_permission path: f.pdf, user: bo → Permission removed"},
		{"restore_backup", `{"path":"b.tgz"}`, "restored 120 files", "restore_backup path: b.tgz → restored 120 files"},
		{"delete_file", `{"path":"a.rb"}`, "User rejected the deletion of the file a.rb.", "delete a.rb → failed: User rejected the deletion of the file a.rb."},
		{"bash", `{"command":"gh run view 9"}`, "X build · 9\n\nTo see what failed, try: gh run view 9 --log-failed", "$ gh run view 9 →"},
		{"bash", `{"command":"kubectl get jobs"}`, "NAME STATUS\nm Failed 0/1", "$ kubectl get jobs →"},
		{"bash", `{"command":"psql -c \"select * from jobs\""}`, "1 | failed | disk full", `$ psql -c "select * from jobs" → 1 | failed | disk full`},
		{"bash", `{"command":"gh run watch 9 && gh run view 9"}`, "error: build failed", "$ gh run watch 9 && gh run view 9 → failed: error: build failed"},
		{"bash", `{"command":"Rscript test.R"}`, "[ FAIL 0 | WARN 0 | SKIP 0 | PASS 5 ]", "$ Rscript test.R → [ FAIL 0 | WARN 0 | SKIP 0 | PASS 5 ]"},
		{"bash", `{"command":"Rscript test.R"}`, "[ FAIL 2 | WARN 0 | SKIP 0 | PASS 3 ]", "$ Rscript test.R → failed: [ FAIL 2 | WARN 0 | SKIP 0 | PASS 3 ]"},
		{"bash", `{"command":"python t.py"}`, "Test 1: one\n  PASS: made\nTest 2: none\n  PASS: raised ValueError: empty", "$ python t.py →"},
		{"bash", `{"command":"cat > a.py <<'E'\nx = 1\nE\npython a.py"}`, "1", "$ cat > a.py <<'E' ⏎ python a.py → 1"},
		{"bash", `{"command":"./t"}`, "FAILED test 0: expected 3", "$ ./t → failed: FAILED test 0: expected 3"},
		{"bash", `{"command":"./t"}`, "FAIL: 0 != 1", "$ ./t → failed: FAIL: 0 != 1"},
		{"bash", `{"command":"./disks"}`, "Active Devices : 2\nFailed Devices : 0", "$ ./disks →"},
		{"str_replace_editor", `{"command":"undo_edit","path":"a.rb"}`, "Undid the last edit", "edit a.rb → done"},
		{"bash", `{"command":"rm -r up"}`, "The user cancelled the terminal command.", "$ rm -r up → refused by the user"},
		{"bash", `{"command":"kubectl -n a describe pod x | tail -9"}`, "State: Terminated\n  Exit Code:    137\nEvents: none", "$ kubectl -n a describe pod x | tail -9 →"},
		{"bash", `{"command":"man tar | head"}`, "EXIT STATUS\nexit status 1 if files differ", "$ man tar | head →"},
		{"bash", `{"command":"cat ci.log"}`, "Step build\nStep test\nexit code: 2", "$ cat ci.log (2 lines)"},
		{"read_file", `{"path":"n.md"}`, "Codes\n\nexit code 2: usage\nexit code 3: io", "read n.md (4 lines)"},
		{"bash", `{"command":"journalctl -u web | tail -2"}`, "web: code=exited\nweb: Failed with result 'exit-code'.", "$ journalctl -u web | tail -2 →"},
		{"bash", `{"command":"gh api repos/a/b | jq .id"}`, "null\ngh: Not Found (HTTP 404)", "$ gh api repos/a/b | jq .id → failed: gh: Not Found (HTTP 404)"},
		{"bash", `{"command":"git rev-parse HEAD"}`, "fatal: not a git repository", "$ git rev-parse HEAD → failed: fatal: not a git repository"},
		{"bash", `{"command":"redis-cli get job:4"}`, "failed", "$ redis-cli get job:4 → failed"},
		{"bash", `{"command":"wc -l failed.txt"}`, "9 failed.txt", "$ wc -l failed.txt → 9 failed.txt"},
		{"bash", `{"command":"python logins.py"}`, "failed logins: 7\nok", "$ python logins.py →"},
		{"bash", `{"command":"./sync.sh"}`, "attempt 1 failed: timeout\nattempt 2: ok", "$ ./sync.sh →"},
		{"bash", `{"command":"python top.py"}`, "Most:\n  KeyError: 12", "$ python top.py →"},
		{"bash", `{"command":"phpunit"}`, "ERRORS!\nTests: 9, Assertions: 20, Errors: 1.", "$ phpunit → failed: Tests: 9, Assertions: 20, Errors: 1."},
		{"bash", `{"command":"npx vitest run"}`, "Command timed out after 1m 0.0s\n ✓ test/a.test.ts (7 tests)", "$ npx vitest run → failed: Command timed out after 1m 0.0s"},
		{"bash", `{"command":"go test ./..."}`, "ok  \ta/b\t0.2s\n\nCommand timed out after 120s", "$ go test ./... → failed: Command timed out after 120s"},
		{"bash", `{"command":"npm test"}`, "Exit code 143\nCommand timed out after 2m 0.0s\n\nTests: 9 passed, 9 total", "$ npm test → exit 143: Command timed out after 2m 0.0s"},
		{"execute_sql", `{"query":"delete from carts where age > 9"}`, "[]", "execute_sql delete from carts where age > 9 → []"},
		{"graphql", `{"query":"mutation { close(id: 1) }"}`, "closed", "graphql mutation { close(id: 1) } → closed"},
		{"mark_as_read", `{"path":"in/12"}`, "marked", "mark_as_read path: in/12 → marked"},
		{"viewer_grant", `{"path":"a.doc"}`, "granted", "viewer_grant path: a.doc → granted"},
		{"fs__edit_file", `{"path":"a.rb","oldText":"a","newText":"b","dryRun":true}`, "-a\n+b", "fs__edit_file path: a.rb, oldText: a, newText: b, dryRun: true →"},
		{"write_file", `{"path":"a.rb","content":"b"}`, "Draft saved. Waiting for approval before writing.", "write a.rb → Draft saved. Waiting for approval before writing."},
		{"multi_edit", `{"edits":[{"path":"a.rb","old":"a","new":"b"},{"path":"c.rb","old":"c","new":"d"}]}`, "These files were edited:\na.rb\nFailed: c.rb: no match", "edit a.rb, c.rb → These files were edited: a.rb Failed: c.rb: no match"},
		{"apply_diff", `{"args":{"file":[{"path":"a.rb","diff":{"content":"<<<<<<< SEARCH\n:start_line:1\n-------\na\n=======\nb\n>>>>>>> REPLACE","start_line":1}}]}}`, "<operation>modified</operation>", "edit a.rb (+1 −1: b) → done"},
		{"apply_patch_call", `{"type":"apply_patch_call","operation":{"type":"update_file","path":"a.rb","diff":"@@\n-a\n+b\n"}}`, "", "edit a.rb (+1 −1: b) → done"},
		{"apply_patch_call", `{"type":"apply_patch_call","operation":{"type":"create_file","path":"a.rb","diff":"+a\n+b\n"}}`, "", "edit a.rb → done"},
		{"apply_patch_call", `{"type":"apply_patch_call","operation":{"type":"delete_file","path":"a.rb"}}`, "", "delete a.rb → done"},
		{"shell_call", `{"type":"shell_call","action":{"commands":["ls","pwd"]}}`, "/w", "$ ls ⏎ pwd → /w"},
		{"bash", `{"command":"./up"}`, "api: FAILED\ndb: ok", "$ ./up → failed: api: FAILED"},
		{"bash", `{"command":"cargo test"}`, "test a::b ... FAILED\ntest c::d ... ok", "$ cargo test → failed: test a::b ... FAILED"},
		{"bash", `{"command":"./t"}`, "test_a ... FAIL\ntest_b ... ok", "$ ./t → failed: test_a ... FAIL"},
		{"bash", `{"command":"./pull"}`, "Error: could not reach the registry\nDone.", "$ ./pull → failed: Error: could not reach the registry"},
		{"bash", `{"command":"./pull"}`, "Error: could not reach the registry\nDone with errors", "$ ./pull → failed: Error: could not reach the registry"},
		{"Grep", `{"pattern":"commit","path":"src"}`, "src/a.go", "Grep commit in src → src/a.go"},
		{"bash", `{"command":"node status.js"}`, "Error: no such host", "$ node status.js → failed: Error: no such host"},
		{"bash", `{"command":"type-coverage --strict"}`, "12 of 90\nError: below 95 %", "$ type-coverage --strict → failed: Error: below 95 %"},
		{"bash", `{"command":"./ci status-all"}`, "Error: no such host", "$ ./ci status-all → failed: Error: no such host"},
		{"bash", `{"command":"curl -sX POST host/a"}`, "sent\nError: no such host", "$ curl -sX POST host/a → failed: Error: no such host"},
		{"bash", `{"command":"curl -sS host/a"}`, "sent\nError: no such host", "$ curl -sS host/a →"},
		{"get_pull_request", `{"query":"7"}`, "the port", "get_pull_request 7 → the port"},
		{"get_message", `{"path":"in/7"}`, "the port", "read in/7 → the port"},
		{"mcp__shop__getCustomer", `{"query":"bo"}`, "bo@x", "mcp__shop__getCustomer bo → bo@x"},
		{"close_match_search", `{"query":"bo"}`, "bob", "close_match_search bo → bob"},
		{"get_and_close", `{"query":"7"}`, "closed", "get_and_close 7 → closed"},
		{"bash", `{"command":"git --no-pager diff"}`, "-a\n+b", "$ git --no-pager diff (2 lines)"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: b.rb\n@@\n-a\n+b\n*** Update File: a.rb\n@@\n-c\n+d\n*** End Patch"}`, "Success. Updated the following files:\nM b.rb\nM a.rb\n\nLSP errors detected in a.rb, please fix:\nERROR [3:1] no end", "edit b.rb, a.rb (+2 −2: b ⏎ d) → done"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: b.rb\n@@\n-a\n+b\n*** Update File: a.rb\n@@\n-c\n+d\n*** End Patch"}`, "Updated 2 files.\nM b.rb\nM a.rb\na.rb cannot be loaded", "edit b.rb, a.rb (+2 −2: b ⏎ d) → done"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: b.rb\n@@\n-a\n+b\n*** Update File: a.rb\n@@\n-c\n+d\n*** End Patch"}`, "Updated 2 files.\nCompile errors in a.rb: 2", "edit b.rb, a.rb (+2 −2: b ⏎ d) → done"},
		{"bash", `{"command":"git commit -am 'Fix 2 failing tests'"}`, "[main 1a2b3c4] Fix 2 failing tests\n 2 files changed", "$ git commit -am 'Fix 2 failing tests' → [main 1a2b3c4] Fix 2 failing tests"},
		{"bash", `{"command":"ruff check --fix"}`, "Found 3 errors (3 fixed, 0 remaining).", "$ ruff check --fix → Found 3 errors (3 fixed, 0 remaining)."},
		{"bash", `{"command":"make clean all"}`, "rm: out: none\nmake: [clean] Error 1 (ignored)\nDone.", "$ make clean all →"},
		{"bash", `{"command":"yarn"}`, "Lock file not found, creating one\nlinked 12\nDone.", "$ yarn →"},
		{"bash", `{"command":"psql -f a.sql"}`, "psql:a.sql:1: NOTICE: table a does not exist, skipping\nDROP TABLE", "$ psql -f a.sql →"},
		{"bash", `{"command":"./wait"}`, "waiting for the pod (timeout 60s)\nDone.", "$ ./wait →"},
		{"multi_edit", `{"edits":[{"path":"a.rb","old":"a","new":"b"},{"path":"c.rb","old":"c","new":"d"}]}`, "These files were edited:\na.rb\nFailed: c.rb:3:1: search text not found", "edit a.rb, c.rb → These files were edited: a.rb Failed: c.rb:3:1: search text not found"},
		{"multi_edit", `{"edits":[{"path":"a.rb","old":"a","new":"b"},{"path":"c.rb","old":"c","new":"d"}]}`, "These files were edited:\na.rb\nc.rb: not applied, syntax error in the search block", "edit a.rb, c.rb → These files were edited: a.rb c.rb: not applied, syntax error in the search block"},
		{"multi_edit", `{"edits":[{"path":"a.rb","old":"a","new":"b"},{"path":"c.rb","old":"c","new":"d"}]}`, "These files were edited:\na.rb\nc.rb: reverted automatically because of lint errors", "edit a.rb, c.rb → These files were edited: a.rb c.rb: reverted automatically because of lint errors"},
		{"apply_patch", `{"input":"*** Begin Patch\n*** Update File: b.rb\n@@\n-a\n+b\n*** Update File: a.rb\n@@\n-c\n+d\n*** End Patch"}`, "Updated the following files:\nM b.rb\n\nFailed:\nM a.rb\na.rb: context not found", "edit b.rb, a.rb → Updated the following files: M b.rb Failed: M a.rb a.rb: context not found"},
		{"edit", `{"path":"a.rb","old":"a","new":"b"}`, "Edit of a.rb has been blocked: generated file", "edit a.rb → failed: Edit of a.rb has been blocked: generated file"},
		{"edit", `{"path":"a.rb","old":"a","new":"b"}`, "The edit of a.rb has been skipped", "edit a.rb → failed: The edit of a.rb has been skipped"},
		{"edit", `{"path":"a.rb","old":"a","new":"b"}`, "Updated 0 files", "edit a.rb → failed: Updated 0 files"},
		{"edit", `{"path":"a.rb","old":"a","new":"b"}`, "The file a.rb has been updated. Formatting was skipped.", "edit a.rb (+1 −1: b) → done"},
		{"get_doc", `{"id":4}`, `{"metadata":{"author":"bo","year":2020},"title":"Plan B"}`, "get_doc id: 4 → metadata: author bo, year 2020, title: Plan B"},
		{"get_signal", `{"id":4}`, "Signal: SELL\nPrice: 40", "get_signal id: 4 → Signal: SELL, Price: 40"},
		{"get_job", `{"id":4}`, `{"Command":"make","owner":"bo"}`, "get_job id: 4 → Command: make, owner: bo"},
		{"bash", `{"command":"find . -name a.go"}`, "find . -name a.go\n[Python Interpreter: /bin/python]\nroot@openhands-workspace:/w # \n[Command finished with exit code 0]", "$ find . -name a.go → exit 0, no output"},
		{"bash", `{"command":"ls"}`, "ls\na.go\nb.go[Python Interpreter: /bin/python]\nroot@openhands-workspace:/w # \n[Command finished with exit code 0]", "$ ls → a.go ⏎ b.go"},
		{"delete_saved_search", `{"query":"bob"}`, "Deleted.", "delete_saved_search bob → Deleted."},
		{"mcp__list__remove_item", `{"query":"milk"}`, "Removed.", "mcp__list__remove_item milk → Removed."},
		{"view_create", `{"query":"select 1"}`, "View v1", "view_create select 1 → View v1"},
		{"cancel_subscription", `{"query":"bob"}`, "cancelled", "cancel_subscription bob → cancelled"},
		{"buy_stock", `{"query":"ACME"}`, "5", "buy_stock ACME → 5"},
		{"execute", `{"query":"with x as (select 1) delete from a"}`, "3", "execute with x as (select 1) delete from a → 3"},
		{"graphql", `{"query":"# so\nmutation { close(id: 1) }"}`, "closed", "graphql # so mutation { close(id: 1) } → closed"},
		{"sql", `{"query":"/* so */ update a set b=1"}`, "5", "sql /* so */ update a set b=1 → 5"},
		{"mongo", `{"query":"db.a.deleteMany({})"}`, "4", "mongo db.a.deleteMany({}) → 4"},
		{"with_tax_search", `{"query":"with a"}`, "4", "with_tax_search with a → 4"},
	} {
		e, r := event{class: steps, Action: agent.ActionOf(c[0], c[1])}, agent.ResultOf(c[2], agent.ActionOf(c[0], c[1]).Kind)
		NewRecord(nil).answer(&e, r)
		if got := e.Name(200, "") + e.ended(); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(c[3]), " ") {
			t.Errorf("%s of %q\nis   %s\nwant %s", c[0], c[2], got, c[3])
		}
	}
}

// TestWhatMayNotHoldAnyMore has what comes after an edit of a file, and what is told of
// the file then.
func TestWhatMayNotHoldAnyMore(t *testing.T) {
	const holds, may, gone = "as of here, in lib/a.rb:", "as of here, in lib/a.rb (it may have changed after that):", ""
	shell := func(command string) []compact.Message { return run(2, command, "") }
	for name, c := range map[string]struct {
		then []compact.Message
		want string
	}{
		"a command":                 {shell("make test"), holds},
		"an undo":                   {exchange(2, "editor", `{"command":"undo_edit","path":"/w/lib/a.rb"}`, "Last edit to /w/lib/a.rb undone successfully."), gone},
		"a restore":                 {exchange(2, "restore_files", `{"paths":["lib/a.rb"]}`, "Restored 1 file."), may},
		"a reset":                   {shell("git reset --hard"), gone},
		"a pull":                    {shell("git pull --rebase"), may},
		"a revert":                  {shell("git commit -qam x && git revert --no-edit HEAD"), may},
		"a formatter of all":        {shell("./gradlew spotlessApply"), may},
		"a task that formats":       {shell("npm run lint:fix"), may},
		"a tool that renames":       {exchange(2, "rename_symbol", `{"symbol":"limit","to":"most"}`, "Renamed 3 times: lib/a.rb, lib/b.rb"), may},
		"a pull of its folder":      {shell("git checkout -- lib"), gone},
		"its folder's end":          {shell("rm -rf /w/lib/"), gone},
		"another folder's end":      {shell("rm -rf tmp/lib"), holds},
		"its folder moved":          {shell("mv lib src"), may},
		"the index alone":           {shell("git restore --staged lib/a.rb"), holds},
		"a reversed patch":          {shell("git diff lib | git apply -R"), may},
		"a clean":                   {shell("git clean -fd"), may},
		"PowerShell":                {shell(`Remove-Item lib\a.rb`), may},
		"a copy on Windows":         {shell(`copy a.bak lib\a.rb`), may},
		"an edit in place":          {shell(`sed -i 's/5/9/' lib/a.rb`), gone},
		"not run":                   {run(2, "rm lib/a.rb", "This command requires approval"), holds},
		"not run, as others failed": {run(2, "rm lib/a.rb && npm test", "<tool_use_error>Sibling tool call errored</tool_use_error>"), holds},
		"not run, a call at fault":  {run(2, "rm lib/a.rb", "<tool_use_error>InputValidationError: Bash failed\nno command</tool_use_error>"), holds},
		"not run, in German":        {run(2, "rm lib/a.rb", "Der Benutzer hat den Befehl abgelehnt."), may},
		"not run, by a rule":        {run(2, "rm lib/a.rb", "The user has specified a rule which prevents this call: deny rm"), may},
		"not run, no shell":         {run(2, "sed -i s/5/9/ lib/a.rb", "Error: container is not running"), holds},
		"a question of rm":          {run(2, "rm lib/a.rb", "rm: remove write-protected regular file 'lib/a.rb'?"), may},
		"the one before it failed":  {run(2, "npm test && mv lib/a.rb lib/b.rb", "Exit code 1\nTests: 2 failed, 3 passed"), holds},
		"a condition, not met":      {run(2, "test -f x && rm lib/a.rb", "exit code: 1"), holds},
		"the one behind it failed":  {run(2, "rm lib/a.rb && npm test", "Exit code 1\nTests: 2 failed, 3 passed"), gone},
		"one or the other":          {run(2, "diff -q lib/a.rb b.rb || rm lib/a.rb", ""), may},
		"no output, in words":       {run(2, "rm lib/a.rb", "Tool ran without output or errors"), gone},
		"no output, None":           {run(2, "rm lib/a.rb", "None"), gone},
		"no output, a folder":       {run(2, "rm lib/a.rb", "Shell cwd was reset to /repo"), gone},
		"not run, by a hook":        {run(2, "rm lib/a.rb", "Error: this command was blocked by a hook"), holds},
		"a job's words":             {run(2, "rm lib/a.rb && python job.py > out.txt", "Operation finished, 3 rows skipped by filter"), gone},
		"a job's plan":              {run(2, "cp b.rb lib/a.rb; npm run plan", "Switched to plan mode preview"), may},
		"headers of HTTP":           {run(2, "rm lib/a.rb && curl -i host", "exit code: 22\nContent-Type: text/html"), gone},
		"a fault of its types":      {exchange(2, "edit", `{"path":"lib/a.rb","old":"limit = 5","new":"limit = 6"}`, "The file has been updated.\nType errors in lib/a.rb: 2"), gone},
		"a list that comes in":      {shell("grep -rl 5 lib | xargs sed -i 's/5/9/'"), may},
		"what was found":            {shell(`find lib -name '*.rb' -exec sed -i 's/5/9/' {} +`), may},
		"a pattern":                 {shell("sed -i 's/5/9/' lib/*.rb"), may},
		"another pattern":           {shell("rm -f tmp/*.rb lib/*.pyc"), may},
		"a loop":                    {shell(`for f in lib/*.rb; do sed -i 's/5/9/' "$f"; done`), may},
		"into its folder":           {shell("cp old/a.rb lib"), may},
		"a folder of the shell":     {shell(`tmp=$(mktemp -d); cd "$tmp" && printf x > lib/a.rb`), may},
		"code is made":              {shell("npm run generate"), may},
		"a trial of a tool":         {exchange(2, "edit_file", `{"path":"lib/a.rb","old":"limit = 5","new":"limit = 6","dryRun":true}`, "-limit = 5"), holds},
		"an undo that fails":        {exchange(2, "undo_edit", `{"path":"lib/a.rb"}`, "No edit history found"), may},
		"an undo of another":        {exchange(2, "revert_file", `{"path":"b/a.rb"}`, "Reverted."), may},
		"a tool that deletes":       {exchange(2, "delete_lines", `{"path":"lib/a.rb","start":3}`, "Deleted 7 lines."), may},
		"an undo, no path":          {exchange(2, "undo_edit", `{}`, "Undone: lib/a.rb is as before the last edit."), may},
		"an undo, a diff":           {exchange(2, "undo_edit", `{"path":"lib/a.rb"}`, "```diff\n-limit = 5\n+limit = 3\n```"), may},
		"an append":                 {shell(`echo "# x" >> lib/a.rb`), gone},
		"a pipe to its end":         {shell(`echo "# x" | tee -a lib/a.rb`), gone},
		"quoted parentheses":        {shell(`sed -i 's/((a/((b/' lib/b.rb; rm lib/a.rb; echo "))"`), gone},
		"a condition":               {shell("if [[ a > lib/a.rb ]]; then (( n > lib/a.rb )); fi"), holds},
		"out of the index":          {shell("git rm --cached lib/a.rb"), holds},
		"a formatter's trial":       {shell("black --diff lib/a.rb"), holds},
		"the user's text":           {exchange(2, "edit", `{"path":"lib/a.rb","old":"limit = 5","new":"limit = 6"}`, "The file lib/a.rb has been updated. The user modified your proposed changes before accepting them."), may},
		"a part of it, Roo":         {exchange(2, "apply_diff", `{"path":"lib/a.rb","old":"limit = 5","new":"limit = 6"}`, "But unable to apply all diff parts to file: lib/a.rb. Use the read_file tool to check the newest file version."), may},
		"a part of it, zh":          {exchange(2, "edit", `{"path":"lib/a.rb","old":"limit = 5","new":"limit = 6"}`, "文件 lib/a.rb 部分更新：1 处成功，1 处失败（未找到要替换的内容）"), may},
		"a refused command":         {run(2, "git reset --hard", "Permission to run tool denied by user"), holds},
		"a message":                 {[]compact.Message{user("Is the limit in a.rb right?")}, holds},
		"a user's own change":       {[]compact.Message{user("I've changed the limit in a.rb to 9.")}, may},
		"in German":                 {[]compact.Message{user("Ich habe a.rb von Hand geändert.")}, may},
		"edits, some of them":       {exchange(2, "edit", `{"path":"lib/a.rb","old":"limit = 5","new":"limit = 6"}`, "Applied 1 of 2 edits."), may},
		"an edit, who knows":        {exchange(2, "edit", `{"path":"lib/a.rb","old":"limit = 5","new":"limit = 6"}`, "The model looked at it."), may},
		"another of its name":       {exchange(2, "edit", `{"path":"a.rb","old":"limit = 5","new":"limit = 6"}`, "done"), may},
		"another one's end":         {exchange(2, "delete_file", `{"path":"a.rb"}`, "Deleted."), gone},
		"a name in a folder":        {shell("cd lib; git checkout a.rb"), gone},
		"all by hand":               {[]compact.Message{user("I undid all of it, think again.")}, may},
		"in Spanish":                {[]compact.Message{user("he deshecho los cambios")}, may},
		"a checkpoint":              {[]compact.Message{user("Checkpoint restored to before the last message.")}, may},
		"a shell by hand":           {[]compact.Message{user("<bash-input>git checkout -- lib/a.rb</bash-input>\n<bash-stdout></bash-stdout><bash-stderr></bash-stderr>")}, may},
		"in Codex":                  {[]compact.Message{user("<user_shell_command>\n<command>\ngit stash\n</command>\n<result>\nExit code: 0\nOutput:\nSaved\n</result>\n</user_shell_command>")}, may},
		"words of a command":        {[]compact.Message{user("I did `git stash` and now the build is broken.")}, holds},
		"an edit, not applied":      {exchange(2, "edit", `{"path":"lib/a.rb","old":"limit = 5","new":"limit = 6"}`, "No edits were applied."), holds},
	} {
		record := recordOf(700, exchange(1, "edit", `{"path":"lib/a.rb","old":"limit = 3","new":"limit = 5"}`, "done"), c.then)
		if shows := strings.Contains(record, "\n limit = 5\n"); shows != (c.want != gone) || !strings.Contains(record, c.want) {
			t.Errorf("after %s: no %q in\n%s", name, c.want, record)
		}
	}
}

// A step that has an effect stays where it was, although one like it comes later: what
// comes between depends on it.
func TestStepsWithAnEffectKeepTheirPlace(t *testing.T) {
	sql := func(n int, query, result string) []compact.Message {
		return exchange(n, "sql", `{"sql":`+quotedJSON(query)+`}`, result)
	}
	record := recordOf(900, sql(1, "begin", "BEGIN"), sql(2, "delete from a", "DELETE 3"), sql(3, "rollback", "ROLLBACK"), sql(4, "begin", "BEGIN"), sql(5, "update b", "UPDATE 5"), sql(6, "commit", "COMMIT"),
		exchange(7, "bash", `{"command":"git status"}`, "clean"), sql(8, "vacuum", "VACUUM"), exchange(9, "bash", `{"command":"git status"}`, "clean"))
	at := 0
	for _, want := range []string{"begin → BEGIN\n", "DELETE 3", "rollback → ROLLBACK\n", "begin → BEGIN\n", "UPDATE 5", "COMMIT", "git status → clean\n", "VACUUM", "git status → clean\n"} {
		i := strings.Index(record[at:], want)
		if i < 0 {
			t.Fatalf("no %q in its place in\n%s", want, record)
		}
		at += i
	}
}

// A long command that only shows what it would do says so.
func TestATrialIsTold(t *testing.T) {
	long := strings.Repeat("x", 300)
	for call, trial := range map[string]bool{`{"command":"kubectl set resources ` + long + ` --dry-run=server"}`: true, `{"command":"kubectl set resources ` + long + `"}`: false, `{"id":"` + long + `","dry_run": false}`: false, `{"id":"` + long + `","dry_run": true}`: true} {
		e := event{class: steps, Action: agent.ActionOf("bash", call)}
		if got := e.Name(60, ""); strings.HasSuffix(got, "… (dry run)") != trial {
			t.Errorf("%s is told as %s", call, got)
		}
	}
}

// What the API says of a result holds, whatever the result says.
func TestAResultThatFailedFailed(t *testing.T) {
	f := func(name string, tool, arguments, output string, want agent.Verdict) {
		t.Helper()
		read := (&Record{}).read(&compact.Message{Role: compact.Tool, Failed: true, Parts: []compact.Part{{Text: compact.Plain(output)}}}, nil)
		if o := agent.ActionOf(tool, arguments).OutcomeOf(read.result); o.Verdict != want {
			t.Errorf("%s: %+v", name, o)
		}
	}
	f("a command", "Bash", `{"command":"./check.sh"}`, "3 of 4", agent.Failed)
	f("a file", "Read", `{"file_path":"/src/a.go"}`, "This is too large.", agent.Failed)
	f("an edit", "Edit", `{"file_path":"/src/a.go","old_string":"a","new_string":"b"}`, "Updated by another.", agent.Failed)
	f("the user", "Bash", `{"command":"rm a"}`, "The user doesn't want to proceed with this tool use.", agent.Refused)
}
