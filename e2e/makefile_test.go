package e2e

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// variable returns the words of a variable of the Makefile.
func variable(t *testing.T, name string) []string {
	t.Helper()
	text, err := os.ReadFile("../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + name + `\s*:=((?:.*\\\n)*.*)$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("the Makefile has no %s", name)
	}
	words := strings.Fields(strings.ReplaceAll(string(m[1]), "\\", ""))
	slices.Sort(words)
	return words
}

// parsed returns the files of Go in a folder.
func parsed(t *testing.T, dir string) (files []*ast.File) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// lessInAClone are what a test calls that does less with -short, or without a larger
// set of conversations.
var lessInAClone = []string{
	"testing.Short", "compacttest.LargerSet", "compacttest.HasLargerSet", "compacttest.Conversations", "compacttest.ConversationFiles",
	"compacttest.CaptureFiles",
}

// TestLongerTestsAreListed: continuous integration runs every test with -short in a
// clone that has nothing beside it, and once more those that do less there. Such a
// test asks testing.Short or LACONIC_SWEEP, reads the conversations that are at hand,
// or calls a function that does.
func TestLongerTestsAreListed(t *testing.T) {
	var longer []string
	for _, r := range rules {
		calls, asks := map[string][]string{}, map[string]bool{}
		for _, f := range parsed(t, filepath.Join("..", r.pkg)) {
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok || fn.Recv != nil || fn.Body == nil {
					continue
				}
				ast.Inspect(fn.Body, func(n ast.Node) bool {
					switch n := n.(type) {
					case *ast.Ident:
						calls[fn.Name.Name] = append(calls[fn.Name.Name], n.Name)
					case *ast.SelectorExpr:
						if x, ok := n.X.(*ast.Ident); ok && slices.Contains(lessInAClone, x.Name+"."+n.Sel.Name) {
							asks[fn.Name.Name] = true
						}
					case *ast.BasicLit:
						if text, _ := strconv.Unquote(n.Value); text == "LACONIC_"+"SWEEP" { // in two, or it would ask itself
							asks[fn.Name.Name] = true
						}
					}
					return true
				})
			}
		}
		for more := true; more; {
			more = false
			for name, called := range calls {
				if !asks[name] && slices.ContainsFunc(called, func(c string) bool { return asks[c] }) {
					asks[name], more = true, true
				}
			}
		}
		for name := range asks {
			if strings.HasPrefix(name, "Test") {
				longer = append(longer, name)
			}
		}
	}
	slices.Sort(longer)
	if got := variable(t, "LONGER"); !slices.Equal(got, longer) {
		t.Errorf("LONGER of the Makefile is\n%s\nand should be\n%s", strings.Join(got, " "), strings.Join(longer, " "))
	}
}

// TestWhatIsNotRacedStartsNothing: the race detector can see nothing in a package
// without goroutines, whose tests have none either.
func TestWhatIsNotRacedStartsNothing(t *testing.T) {
	for _, pkg := range variable(t, "UNRACED") {
		for _, f := range parsed(t, filepath.Join("..", pkg)) {
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.GoStmt:
					t.Errorf("%s starts a goroutine: let the race detector see it", pkg)
				case *ast.SelectorExpr:
					if slices.Contains([]string{"Go", "AfterFunc", "Parallel", "RunParallel"}, n.Sel.Name) {
						t.Errorf("%s calls %s: let the race detector see it", pkg, n.Sel.Name)
					}
				case *ast.ImportSpec:
					if strings.Contains(n.Path.Value, "net/http") {
						t.Errorf("%s imports %s, which starts goroutines: let the race detector see it", pkg, n.Path.Value)
					}
				}
				return true
			})
		}
	}
}
