package survival

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"testing"

	"laconic/demo/strict"
)

// conversations is where the repository keeps the conversations that its sweeps
// run on.
const conversations = "../testdata/conversations"

// TestConversationsAreWhatTheAgentsSay records the scripted agents of this
// package, each in front of a model without a limit, and compares the
// conversations with those of the repository. -update writes them.
func TestConversationsAreWhatTheAgentsSay(t *testing.T) {
	var sessions bytes.Buffer
	for i, f := range forms[:3] { // text, JSON and parts; another language and tokenizer each
		k := tokenizers[0]
		w := newWorkspace(uint64(301+i), k.text)
		s := newSession(w, -1, k)
		a := &agent{model: "scripted", form: f, perform: inOrder(w.perform(t)), tell: s.sending}
		a.says("system", instructions)
		a.says("user", firstPrompt)
		record(t, &sessions, "session/"+string(f), a, s, "")
	}
	sameFile(t, conversations+"/sessions.jsonl", sessions.Bytes())

	var readers bytes.Buffer
	for i, atOnce := range []int{1, 2, 4, 4} { // calls in one message
		m := newReader(uint64(311+i), atOnce)
		u := strict.New(strict.Options{Limit: -1, Reply: m.reply})
		record(t, &readers, fmt.Sprintf("reader/%d/%d", i, atOnce), m.agent("", "scripted"), u, "")
	}
	sameFile(t, conversations+"/readers.jsonl", readers.Bytes())

	var thinkers bytes.Buffer
	for _, turns := range []bool{false, true} { // one user message; one after each fifth answer
		m := newThinker(-1, turns)
		name, ask := "thinker/one turn", ""
		if turns {
			name, ask = "thinker/turns", "Go on."
		}
		record(t, &thinkers, name, m.agent("", turns), m, ask)
	}
	sameFile(t, conversations+"/thinkers.jsonl", thinkers.Bytes())
}

// record runs an agent until its model says that the session is over, and
// writes the conversation as one line. ask is what the user says after any
// other answer without a call.
func record(t *testing.T, out *bytes.Buffer, id string, a *agent, upstream http.Handler, ask string) {
	t.Helper()
	server := httptest.NewServer(upstream)
	defer server.Close()
	a.url = server.URL
	for {
		if a.tell != nil {
			a.tell(a.read)
		}
		text, calls, status, err := a.ask()
		if err != nil || status != http.StatusOK {
			t.Fatalf("%s: status %d, %v", id, status, err)
		}
		a.answered(text, calls)
		if text == sessionIsOver {
			break
		}
		if len(calls) == 0 {
			a.says("user", ask)
		}
	}
	messages := signatures.ReplaceAll(bytes.Join(a.bodies, []byte(",")), []byte(`"signature":"c2lnbmF0dXJl"`))
	fmt.Fprintf(out, `{"id":%q,"source":"scripted agent","model":%q,"messages":[%s],"tools":%s}`+"\n", id, a.model, messages, agentTools)
}

// signatures matches what the upstream made of everything before it. A recorded
// one would change with every change of that upstream.
var signatures = regexp.MustCompile(`"signature":"[^"]*"`)

// sameFile compares a file with what it should hold, or writes it where -update
// asks for that.
func sameFile(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		writeFile(t, name, string(want))
		return
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the agents say now (go test ./e2e -run Conversations -update writes it)", name)
	}
}
