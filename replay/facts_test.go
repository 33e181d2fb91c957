package replay

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"laconic/compact/compacttest"
	"laconic/replay/record"
)

// TestFactsOfATranscript: every rule of Facts, one conversation each.
func TestFactsOfATranscript(t *testing.T) {
	f := func(want, transcript string) {
		t.Helper()
		msgs := compacttest.Messages(t, transcript)
		var got []string
		for _, fact := range Facts(msgs) {
			got = append(got, fact.Value)
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("facts %q, want %q in\n%s", g, want, transcript)
		}
	}
	// a path, without its leading slash
	f("src/main.go", "user: see /src/main.go\nassistant: ok | call c1 read {\"path\":\"/src/main.go\"}\ntool c1: x")
	// an id, a date, a number, an address; not the plain word
	f("1810.0 2024-05-20 HAT136 mia@example.com", "user: book HAT136 on 2024-05-20 for mia@example.com at 1810.0 please\n"+
		`assistant: ok | call c1 book {"a":"HAT136 please","b":["2024-05-20"],"c":{"d":"mia@example.com"},"e":1810.0}`+"\ntool c1: x")
	// a plain word is no name, with a capital or a full stop neither
	f("", "user: Burgundy crimson. values:\nassistant: ok | call c1 set Burgundy crimson. values:\ntool c1: x")
	// unless it is quoted, as a whole string or between quotes
	f("burgundy", "user: burgundy crimson\nassistant: ok | call c1 set {\"color\":\"burgundy\",\"note\":\"not crimson\"}\ntool c1: x")
	f("burgundy crimson", "user: burgundy crimson\nassistant: ok | call c1 run grep 'burgundy' `crimson` 'not crimson'\ntool c1: x")
	f("", "user: burgundy crimson\nassistant: ok | call c1 run grep 'burgundy\" (crimson)\ntool c1: x")
	// an identifier by its capitals, from the second letter on
	f("HTTPServer parseConfig", "user: parseConfig HTTPServer README Parsing\nassistant: ok | call c1 grep parseConfig HTTPServer README Parsing\ntool c1: x")
	// punctuation around a value is not part of it: a sentence's, a price's, a diff's, a decorator's
	f("1810.00 main_test.go pytest.fixture", "user: 1810.00 in main_test.go: pytest.fixture\n"+
		"assistant: ok | call c1 run pay $1810.00 -main_test.go. @pytest.fixture:\ntool c1: x")
	// nor is an escaped line end
	f("main_test.go", "user: main_test.go\nassistant: ok | call c1 run {\"text\":\"print('\\\\nmain_test.go')\"}\ntool c1: x")
	// a token, not the same letters within a longer one
	f("", "user: see /a/src/main.go\nassistant: ok | call c1 read {\"path\":\"src/main.go\"}\ntool c1: x")
	// keys of the arguments are the schema's, not recalled
	f("", "user: file_path\nassistant: ok | call c1 read {\"file_path\":\"x\"}\ntool c1: x")
	// arguments that are not JSON are read as they stand
	f("main_test.go", "user: main_test.go\nassistant: ok | call c1 run go test main_test.go\ntool c1: x")
	// used by two calls of one message: two facts
	f("main_test.go main_test.go", "user: main_test.go\nassistant: ok | call c1 read main_test.go | call c2 run main_test.go\ntool c1: x\ntool c2: x")
	// what the model said in the same turn was not recalled
	f("", "user: go\nassistant: I will read main_test.go\nassistant: ok | call c1 read main_test.go\ntool c1: x")
	// and what it used in a turn before was
	f("main_test.go", "user: go\nassistant: ok | call c1 read main_test.go\ntool c1: x\nassistant: ok | call c2 read main_test.go\ntool c2: x")
	// a whole file being written is made, not recalled
	f("main_test.go", "user: main_test.go other_test.go\n"+
		`assistant: ok | call c1 write {"name":"main_test.go","content":"other_test.go`+strings.Repeat(" x", 2000)+`"}`+"\ntool c1: x")
	// the sentence's full stop is not part of the name
	f("mia_li_3668", "user: I am mia_li_3668.\nassistant: ok | call c1 find {\"id\":\"mia_li_3668\"}\ntool c1: x")
}

// TestFactSaysWhere: first and last place, role and distance in bytes.
func TestFactSaysWhere(t *testing.T) {
	msgs := compacttest.Messages(t, "user: read main_test.go\nassistant: yes | call c1 read main_test.go\ntool c1: 12345\nuser: again\nassistant: ok | call c2 read main_test.go\ntool c2: x")
	got := Facts(msgs)
	want := []Fact{
		{Call: 1, Name: "read", Value: "main_test.go", First: 0, Last: 0, LastRole: "user", Distance: 0},
		{Call: 4, Name: "read", Value: "main_test.go", First: 0, Last: 1, LastRole: "assistant", Distance: 10},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestFactsAgreeWithTheFiles holds the extractor, made to take values as they
// are written, against the facts that lie beside the real conversations: of
// those facts at least 99 % must be found, and at most 1 % as many others. Place
// and distance must agree too.
func TestFactsAgreeWithTheFiles(t *testing.T) {
	const leastFound, mostOthers = 0.99, 0.01
	dir := compacttest.LargerSet(t)
	files, _ := filepath.Glob(filepath.Join(dir, "facts", "*.jsonl"))
	if len(files) == 0 {
		t.Fatalf("no facts in %s", dir)
	}
	var all agreement
	for _, file := range files {
		a := compareFacts(t, filepath.Join(dir, filepath.Base(file)), file)
		t.Logf("%-34s %5d facts, %5d found, %2d others, place agrees in %5d", filepath.Base(file), a.want, a.found, a.others, a.placed)
		all.want += a.want
		all.found += a.found
		all.others += a.others
		all.placed += a.placed
		if float64(a.found) < leastFound*float64(a.want) {
			t.Errorf("%s: %d of %d facts found", file, a.found, a.want)
		}
		// One fact more or less decides nothing in a file of a dozen.
		if float64(a.others) > mostOthers*float64(a.want)+1 {
			t.Errorf("%s: %d facts beside the %d", file, a.others, a.want)
		}
	}
	t.Logf("together %d facts, %d found, %d others, place agrees in %d", all.want, all.found, all.others, all.placed)
	if float64(all.placed) < 0.98*float64(all.found) {
		t.Errorf("first, last, role and distance agree in %d of %d", all.placed, all.found)
	}
}

type agreement struct{ want, found, others, placed int }

// compareFacts compares what is found in a file of conversations with what is
// on record, as multisets: a value that two calls of a message use is two
// facts.
func compareFacts(t *testing.T, conversations, facts string) (a agreement) {
	t.Helper()
	type key struct {
		call        int
		name, value string
	}
	type factsLine struct {
		ID    string
		Facts []Fact
	}
	recorded := map[string][]Fact{}
	f, err := os.Open(facts)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var r factsLine
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		recorded[r.ID] = r.Facts
		a.want += len(r.Facts)
	}
	for r, bad := range record.Read(conversations, nil) {
		if bad != nil {
			t.Fatal(bad)
		}
		wanted := map[key][]Fact{}
		for _, w := range recorded[r.ID] {
			k := key{w.Call, w.Name, w.Value}
			wanted[k] = append(wanted[k], w)
		}
		plain(r.Messages)
		for _, g := range factsBy(asWritten, r.Messages) {
			k := key{g.Call, g.Name, g.Value}
			w := wanted[k]
			if len(w) == 0 {
				a.others++
				continue
			}
			a.found++
			if g.of = w[0].of; w[0] == g {
				a.placed++
			}
			wanted[k] = w[1:]
		}
	}
	return a
}
