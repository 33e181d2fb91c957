package replay

import (
	"slices"
	"strings"
	"testing"

	"laconic/compact"
	"laconic/compact/compacttest"
)

// readings returns what [reading] does of each message.
func readings(msgs []compact.Message) (all [][]string) {
	for i := range msgs {
		all = append(all, reading(&msgs[i]))
	}
	return all
}

// TestFactsOfATranscript: every rule of Facts, one conversation each.
func TestFactsOfATranscript(t *testing.T) {
	f := func(want, transcript string) {
		t.Helper()
		msgs := compacttest.Messages(t, transcript)
		var got []string
		for _, fact := range factsOf(msgs, readings(msgs)) {
			got = append(got, fact.value)
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

// TestFactSaysWhere: the first place and the last.
func TestFactSaysWhere(t *testing.T) {
	msgs := compacttest.Messages(t, "user: read main_test.go\nassistant: yes | call c1 read main_test.go\ntool c1: 12345\nuser: again\nassistant: ok | call c2 read main_test.go\ntool c2: x")
	want := []fact{
		{call: 1, value: "main_test.go", around: "read main_test.go"},
		{call: 4, value: "main_test.go", last: 1, around: "main_test.go"},
	}
	if got := factsOf(msgs, readings(msgs)); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
