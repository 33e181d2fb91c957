package replay

import (
	"slices"
	"strings"
	"testing"

	"laconic/compact/compacttest"
)

// TestWrittenPaths: by which calls a path is written.
func TestWrittenPaths(t *testing.T) {
	f := func(tool, arguments, want string) {
		t.Helper()
		if got := strings.Join(writtenBy(tool, arguments), " "); got != want {
			t.Errorf("%s %s: %q, want %q", tool, arguments, got, want)
		}
	}
	f("Write", `{"file_path":"/a/b.go","content":"> c.go"}`, "/a/b.go")
	f("Read", `{"file_path":"/a/b.go"}`, "")
	f("str_replace_editor", `{"command":"create","path":"./a/b.go"}`, "a/b.go")
	f("str_replace_editor", `{"command":"view","path":"a/b.go"}`, "")
	f("apply_patch", `{"input":"*** Begin Patch\n*** Update File: a/b.go\n@@\n-x\n*** Add File: c.go\n+y\n"}`, "a/b.go c.go")
	f("apply_patch", "*** Begin Patch\n*** Delete File: a/b.go\n", "a/b.go")
	f("bash", `{"command":"git apply <<E\n--- a/x.go\n+++ b/x.go\nE"}`, "x.go")
	f("bash", `{"command":"cat > a.py <<'EOF'\nif a > b:\n  print('x')\nEOF\nls >> log.txt 2>&1; rm x 2>/dev/null"}`, "a.py log.txt")
	f("shell", `{"command":["bash","-lc","echo hi >out.txt"]}`, "out.txt")
	f("bash", `{"command":"echo \"a > b\" '> c' # > d\ngo test &> \"e f.txt\" >&2"}`, "e f.txt")
	f("bash", `{"command":"diff <(ls a) <(ls b) > $OUT; echo \\> x >|y.txt"}`, "y.txt")
	f("bash", `{"command":"cat <<A <<-B >z\n> 1\nA\n> 2\n\tB\n> last"}`, "last z")
}

// FuzzRedirections: whatever a command is, the search ends within it.
func FuzzRedirections(f *testing.F) {
	for _, seed := range []string{"a > b", "cat <<E >x\nE\n", `"\`, "'", "<<", ">>>", "\\", "<<''\n", ">\n>"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, command string) {
		for _, file := range redirections(command) {
			if len(file) > len(command) {
				t.Errorf("%q is longer than the command", file)
			}
		}
	})
}

// TestNames: a path is named by its last two segments, and not by a part of a
// longer one.
func TestNames(t *testing.T) {
	f := func(text, path string, want bool) {
		t.Helper()
		if got := names(text, path); got != want {
			t.Errorf("%q names %q: %v", text, path, got)
		}
	}
	f("see /src/a/b.go.", "/src/a/b.go", true)
	f("see a/b.go, and more", "/src/a/b.go", true)
	f("see b.go", "/src/a/b.go", false)
	f("see aa/b.go and a/b.gob and a/b.go.bak", "/src/a/b.go", false)
	f("aa/b.go a/b.go", "/src/a/b.go", true)
	f("x.go", "x.go", true)
	f("./x.go", "x.go", true)
	f("xx.go x.go2", "x.go", false)
	f(`text\nx.go\n`, "x.go", true)
}

// TestTrail: paths of messages that left, found in what is sent, request by
// request.
func TestTrail(t *testing.T) {
	msgs, err := compacttest.Parse("user: go\n" +
		`assistant: a | call c1 write {"path":"one.go"}` + "\ntool c1: x\n" +
		`assistant: b | call c2 write {"path":"two.go"}` + "\ntool c2: x")
	if err != nil {
		t.Fatal(err)
	}
	tr := writesOf(msgs).trail()
	f := func(k int, sent string, common int, whole []bool, left, named int) {
		t.Helper()
		s, err := compacttest.Parse(sent)
		if err != nil {
			t.Fatal(err)
		}
		if l, n := tr.follow(k, s, common, whole); l != left || n != named {
			t.Errorf("%d left, %d named; want %d, %d", l, n, left, named)
		}
	}
	f(3, "user: go one.go", 0, []bool{true, true, true, false, false}, 0, 0)
	f(3, "user: go one.go", 1, []bool{true, false, false, false, false}, 1, 1)
	f(5, "user: go one.go\nassistant: two.go", 1, []bool{true, false, false, false, false}, 2, 2)
	f(5, "user: go one.go\nassistant: two", 1, []bool{true, false, false, false, false}, 2, 1)
	f(5, "user: go\nassistant: two\nuser: two.go", 0, []bool{true, false, false, false, false}, 2, 1)
	f(5, "user: go\nassistant: two\nuser: two.go", 3, []bool{true, false, false, true, true}, 1, 0)
}

// TestRepeats: the newest earlier result of the same call.
func TestRepeats(t *testing.T) {
	msgs, err := compacttest.Parse("user: go\nassistant: a | call c1 read x | call c2 read y\ntool c2: y\ntool c1: x\n" +
		"assistant: b | call c1 read x\ntool c1: x\nassistant: c | call c3 read x | call c4 show y\ntool c3: x\ntool c4: y\nassistant: d | call c5 read y")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := repeatsOf(msgs), []repeat{{4, 3}, {6, 5}, {9, 2}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
