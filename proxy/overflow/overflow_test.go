package overflow

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/tidwall/gjson"
	"golang.org/x/tools/txtar"
)

// sample is one body of testdata: its verdict, its status, the body.
type sample struct {
	name, verdict string
	status        int
	body          []byte
}

// samples reads the files of a folder, of which there are so many at least.
func samples(t testing.TB, folder string, least int) []sample {
	t.Helper()
	files, err := filepath.Glob(folder + "/*.txtar")
	if err != nil || len(files) < least {
		t.Fatalf("%d files: %v", len(files), err)
	}
	var all []sample
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := txtar.Parse(text)
		if len(bytes.TrimSpace(a.Comment)) < 5 || len(a.Files) == 0 {
			t.Errorf("%s does not say where it comes from, or holds nothing", file)
		}
		for _, f := range a.Files {
			verdict, rest, _ := strings.Cut(string(f.Data), "\n")
			head, body, _ := strings.Cut(rest, "\n")
			status, err := strconv.Atoi(head)
			if err != nil {
				t.Fatalf("%s %s: no status: %q", file, f.Name, head)
			}
			name := strings.TrimSuffix(filepath.Base(file), ".txtar") + "/" + f.Name
			all = append(all, sample{name, verdict, status, []byte(strings.TrimSuffix(body, "\n"))})
		}
	}
	return all
}

// line writes a refusal as the first line of a sample does.
func line(r Refusal) string {
	s := cmp.Or(string(r.Kind), "none")
	if r.Limit > 0 {
		s += fmt.Sprint(" limit=", r.Limit)
	}
	if r.Alone && r.Limit > 0 {
		s += " alone"
	}
	if r.Unsure {
		s += " unsure"
	}
	if r.Wordless {
		s += " wordless"
	}
	if r.Shared {
		s += " shared"
	}
	if r.Prompt > 0 {
		s += fmt.Sprint(" prompt=", r.Prompt)
	}
	if r.AtLeast {
		s += " atleast"
	}
	if r.Output > 0 {
		s += fmt.Sprint(" output=", r.Output)
	}
	if r.Total > 0 {
		s += fmt.Sprint(" total=", r.Total)
	}
	return s
}

func TestEveryForm(t *testing.T) {
	known := map[string]bool{"entity too large": true, "unsure": true}
	for _, s := range samples(t, "testdata", 25) {
		r := Read(s.status, s.body).Size()
		if got := line(r); got != s.verdict {
			t.Errorf("%s: %s, want %s (row %q)", s.name, got, s.verdict, r.Form)
		}
		known[r.Form] = true
	}
	for _, row := range forms() {
		if !known[row.name] {
			t.Errorf("row %q has no body in testdata", row.name)
		}
	}
}

// Kinds of starts: an answer, an error, or one that may become an error.
const (
	Answer = "answer"
	Error  = "error"
	Maybe  = "maybe"
)

func begins(refusal []byte, known bool) string {
	switch {
	case refusal != nil:
		return Error
	case known:
		return Answer
	}
	return Maybe
}

// Every error may come as the first event of a stream that began with 200, and
// reads the same there, however the upstream writes events.
func TestEveryFormAsFirstEvent(t *testing.T) {
	for _, s := range samples(t, "testdata", 25) {
		if !json.Valid(s.body) || s.body[0] != '{' || s.status == 401 || s.status == 429 {
			continue
		}
		if !bytes.Contains(s.body, []byte(`"error":`)) && !bare(gjson.ParseBytes(s.body)) && s.status != 200 {
			continue // under 200 nothing tells it from an answer
		}
		for name, event := range map[string]string{
			"data":        "data: " + string(s.body) + "\n\n",
			"no blank":    "data:" + string(s.body) + "\n\n",
			"event":       "event: error\r\ndata: " + string(s.body) + "\r\n\r\n",
			"error field": "error: " + string(s.body) + "\n\n",
			"several":     "data: " + strings.ReplaceAll(string(s.body), `,"code"`, ",\ndata: \"code\"") + "\n\n",
		} {
			data, _ := FirstEvent([]byte(event+"data: [DONE]\n\n"), false, nil)
			got := Refusal{}
			if data != nil {
				got = Read(200, data).Size()
			}
			if line(got) != s.verdict {
				t.Errorf("%s, %s: %s, want %s (%s)", s.name, name, line(got), s.verdict, data)
			}
		}
	}
}

func TestFirstEventHoldsNoAnswerBack(t *testing.T) {
	const failure = `{"error":{"message":"prompt is too long: 2 tokens > 1 maximum"}}`
	f := func(start, want string) {
		t.Helper()
		if got := begins(FirstEvent([]byte(start), false, nil)); got != want {
			t.Errorf("%.200q: %v, want %v", start, got, want)
		}
	}
	f("data: {}\n\n", Answer)
	const begun = "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,"
	f(begun+"\"x\":\""+strings.Repeat("x", 64<<10), Answer)
	f("event: "+strings.Repeat("x", 64<<10), Answer)
	f(strings.Repeat("id: 1\n", 11<<10), Answer)
	f("data: {\"choices\":[]}\n\n", Answer)
	f(begun+"\"error\":null,\"choices\":[]}\r\r", Answer)
	f("data: [DONE]\n\n", Answer)
	f("data: 1\n\n", Answer)
	f("event: message_start\n\n", Answer)
	f(`{"x":"`+strings.Repeat("x", 64<<10), Answer)

	f("<html>", Answer)
	f("x", Answer)

	f(begun, Maybe)
	f(begun+"\"choices\":[{", Maybe)
	f("d", Maybe)
	f("event: er", Maybe)
	f("data: "+failure, Maybe) // its line may go on
	f("data: "+failure+"\n", Maybe)
	f(failure, Maybe)
	f("[{", Maybe)

	f("data: "+failure+"\n\n", Error)
	f("id: 1\nevent: error\ndata: "+failure+"\n\n", Error)
}

// Split at any byte, an event is Maybe until it is whole and Error then.
func TestFirstEventSplitAnywhere(t *testing.T) {
	const failure = `"error":{"code":400,"message":"prompt is too long: 213462 tokens > 200000 maximum"}`
	for _, event := range []string{
		"event: error\r\ndata: {" + failure + "}\r\n\r\n",
		"data: {\"id\":\"gen\",\"object\":\"chat.completion.chunk\",\"provider\":\"P\",\"x\":[1,{\"y\":null}]," + failure + ",\"choices\":[{\"index\":0}]}\n\n",
		"data: {\"id\":\"gen\",\"choices\":[]," + failure + "}\n\n",
	} {
		for i := 1; i < len(event); i++ {
			got := begins(FirstEvent([]byte(event[:i]), false, nil))
			if got == Answer || got == Error && i < len(event)-1 {
				t.Errorf("%q: %v", event[:i], got)
			}
		}
	}
}

// TestTheFirstEventBehindThoseThatOpenAStream: events that open a stream decide
// nothing, however large they are, and the limit counts from the one that does.
func TestTheFirstEventBehindThoseThatOpenAStream(t *testing.T) {
	items := []string{"response.created", "response.in_progress"}
	long := strings.Repeat("tools ", 20_000)
	created := "event: response.created\ndata: {\"response\":{\"tools\":\"" + long + "\"},\"type\":\"response.created\"}\n\n"
	progress := "data: {\"type\":\"response.in_progress\",\"response\":{\"tools\":\"" + long + "\"}}\r\n\r\n"
	const failure = `"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}`
	f := func(name, event, want string) {
		t.Helper()
		body := created + progress + "data: " + event + "\n\n"
		if got := begins(FirstEvent([]byte(body), false, items)); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
		for i := 1; i < len(body)-2; i += 997 {
			got := begins(FirstEvent([]byte(body[:i]), false, items))
			if got != Maybe && (want == Error || i < len(created)+len(progress)) {
				t.Fatalf("%s: %v after %d of %d bytes", name, got, i, len(body))
			}
		}
	}
	f("an answer", `{"type":"response.output_item.added","item":{}}`, Answer)
	f("an error", `{"type":"error","code":"context_length_exceeded","message":"too long"}`, Error)
	f("a failure that is long", `{"type":"response.failed","response":{"tools":"`+long+`",`+failure+`}}`, Error)
	f("an answer that is long", `{"type":"response.completed","response":{"tools":"`+long+`"}}`, Answer)
	if got := begins(FirstEvent([]byte(created), true, items)); got != Answer {
		t.Errorf("a stream that ends there: %v", got)
	}
	if got := begins(FirstEvent([]byte(created+": alive\n\n"), false, items)); got != Answer {
		t.Errorf("a comment behind one: %v", got)
	}
}

func TestWholeAnswersAreRead(t *testing.T) {
	f := func(body, want string) {
		t.Helper()
		if got := begins(FirstEvent([]byte(body), true, nil)); got != want {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	}
	f("", Answer)
	f("data: {\"error\":{\"message\":\"x\"}}", Error)
	f(`{"id":"x","choices":null,"base_resp":{"status_code":1039,"status_msg":"context window exceeds limit"}}`, Error)
	f(`{"id":"x","choices":[]}`, Answer)
	f(`{"error":{"message":`, Answer)
	f(`[{"error":{"message":"x"}}]`, Error)
	f("hello", Answer)
}

func TestLargeBodiesCostLittle(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("[", 1<<20), strings.Repeat(`{"error":`, 1<<17), `{"error":"` + strings.Repeat("a", 1<<20) + `"}`,
		`{"error":"` + strings.Repeat("Error: ", 1<<17) + `"}`,
		`{"error":{"message":"` + strings.Repeat("This model's maximum context length is ", 1<<14) + `"}}`,
	} {
		if r := Read(400, []byte(body)).Size(); r.Kind != None && !r.Unsure {
			t.Errorf("%.40s: %v", body, r)
		}
		FirstEvent([]byte("data: "+body+"\n\n"), false, nil)
	}
	// Judged at each of its lines, an event of so many would take hours.
	FirstEvent([]byte("data: {\"error\":[\n"+strings.Repeat("data: 1,\n", 1<<20)), false, nil)
	FirstEvent([]byte("data: {\"error\":{\n"+strings.Repeat("data: 1,\n", 1<<20)), false, nil)
}

func FuzzRead(f *testing.F) {
	for _, s := range samples(f, "testdata", 25) {
		f.Add(s.status, s.body)
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		r := Read(status, body).Size()
		if r.Limit < 0 || r.Prompt < 0 || r.Output < 0 || r.Total < 0 || r.Kind == None && r != (Refusal{}) {
			t.Fatalf("%+v", r)
		}
		event := append([]byte("data: "), body...)
		for i := range event {
			if i < 64 {
				FirstEvent(event[:i], i%2 == 0, nil)
			}
		}
		FirstEvent(append(event, "\n\n"...), false, nil)
	})
}
