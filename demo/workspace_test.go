package demo

import "testing"

func TestWorkspace(t *testing.T) {
	w := openWorkspace([]byte("a comment\n-- go.mod --\nmodule x\n-- a/b.go --\npackage b\n\nfunc F() {}\n-- a/c.go --\npackage b\n"))
	f := func(got string, err error, want string) {
		t.Helper()
		if err != nil {
			got = "error: " + err.Error()
		}
		if got != want {
			t.Errorf("got  %q\nwant %q", got, want)
		}
	}
	read := func(name string, from, to int) (string, error) { return w.read(name, from, to) }
	f(w.list("."), nil, "./\n  go.mod                            9 bytes\na/\n  b.go                             23 bytes\n  c.go                             10 bytes\n")
	f(w.list("a/c.go"), nil, "a/\n  c.go                             10 bytes\n")
	got, err := read("a/b.go", 0, 0)
	f(got, err, "    1\tpackage b\n    2\t\n    3\tfunc F() {}\n")
	got, err = read("a/b.go", 3, 0)
	f(got, err, "    3\tfunc F() {}\n")
	got, err = read("a/b.go", 1, 1)
	f(got, err, "    1\tpackage b\n")
	got, err = w.grep("^package", "a")
	f(got, err, "a/b.go:1:package b\na/c.go:1:package b\n")
	got, err = w.grep("nowhere", ".")
	f(got, err, "(no matches)")
	got, err = w.edit("a/b.go", "F() {}", "G() int {\n\treturn 1\n}")
	f(got, err, "a/b.go was edited. It now reads:\n    1\tpackage b\n    2\t\n    3\tfunc G() int {\n    4\t\treturn 1\n    5\t}\n")
	got, err = w.edit("a/b.go", "F()", "H()")
	f(got, err, "error: a/b.go: the old text occurs 0 times, want once:\nF()")
	f(w.write("new.txt", "x\ny\n"), nil, "new.txt was written, 2 lines.")
	got, err = read("new.txt", 2, 2)
	f(got, err, "    2\ty\n")
}
