package proxy

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/tidwall/gjson"

	"laconic/compact"
	"laconic/store"
)

// records is a stage that leaves a record of how much left.
type records struct{ elide }

func (records) Record(compact.Counter, func() bool) compact.Recorder {
	return compact.Recorder(func(lost, kept []compact.Message, _ int, _ bool) string {
		said := "[Record]"
		for _, m := range lost {
			for i := range m.Parts {
				said += " " + strings.Join(strings.Fields(m.Parts[i].Text.String())[:1], "")
			}
		}
		return said
	})
}

// lasting is a store whose secret lasts.
func lasting(t *testing.T, secret string) *store.Vault {
	t.Helper()
	v := must(store.NewVault(store.NewMemory(1<<20), []byte(secret), 0))
	t.Cleanup(v.Close)
	return v
}

// sealing are the options of a proxy that seals under a secret.
func sealing(t *testing.T, secret string) func(*Options) {
	v := lasting(t, secret)
	return func(o *Options) {
		o.Store = v
		o.Default.Policy = &compact.Policy{Name: "adaptive", Ladder: []compact.Stage{records{}, drop{}}}
	}
}

const trigger = `{"type":"compaction_trigger"}`

// ended returns a body of items with more of them at its end.
func ended(body string, items ...string) string {
	at := strings.LastIndex(body, "]")
	return body[:at] + "," + strings.Join(items, ",") + body[at:]
}

// TestACompactionInThePlaceOfTheUpstream is answered with one item, which is opened on
// any replica for the same client, and for nobody else.
func TestACompactionInThePlaceOfTheUpstream(t *testing.T) {
	refusal := `{"error":{"message":"Invalid input type 'compaction_trigger' at index 10"}}`
	status := http.StatusBadRequest
	u := answering(t, func(w http.ResponseWriter, body []byte) bool {
		if strings.Contains(string(body), "compaction_trigger") {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, refusal)
		} else {
			_, _ = io.WriteString(w, `{"output":[]}`)
		}
		return true
	})
	handler := u.Config.Handler
	first := inFrontOf(t, u, windowed(100_000), sealing(t, "a secret of this test"))
	replica := inFrontOf(t, u, windowed(100_000), sealing(t, "a secret of this test"))
	stranger := inFrontOf(t, u, windowed(100_000), sealing(t, "another secret, as long"))
	post := func(p *running, key, body string) response {
		return p.do("POST", "/v1/responses", strings.NewReader(body), "Content-Type", "application/json", "Authorization", "Bearer "+key)
	}
	seen := func() string { return string(u.newest()) }

	res := post(first, "k1", ended(itemsBody(3, 5, ""), trigger))
	_, data, _ := strings.Cut(string(res.body), "event: response.output_item.done\ndata: ")
	item := gjson.Get(data, "item")
	_, data, _ = strings.Cut(data, "event: response.completed\ndata: ")
	if res.StatusCode != 200 || item.Get("type").String() != "compaction" || gjson.Get(data, "response.usage.total_tokens").Int() == 0 {
		t.Fatalf("%d %s", res.StatusCode, res.body)
	}
	if strings.Contains(item.Raw, "word") {
		t.Fatal("the record can be read")
	}
	if r := first.replies(1)[0]; r.Retry == nil || r.Retry.Reason != "compaction" || r.Retry.Why != "here" || r.Usage != nil {
		t.Errorf("%+v, usage %v", r.Retry, r.Usage)
	}

	next := ended(itemsBody(0, 0, ""), item.Raw, `{"type":"message","role":"user","content":"go on"}`)
	const record = `{"type":"message","role":"user","content":[{"type":"input_text","text":"[Record] word word word"}]}`
	for name, p := range map[string]*running{"here": first, "on a replica": replica} {
		if post(p, "k1", next); !strings.Contains(seen(), record) || strings.Contains(seen(), "encrypted_content") {
			t.Errorf("%s: %s", name, seen())
		}
	}
	const line = `"text":"` + unopened + `"`
	if post(first, "k2", next); !strings.Contains(seen(), line) || len(first.faults()) != 1 {
		t.Errorf("for another client: %d faults, %s", len(first.faults()), seen())
	}
	if post(stranger, "k1", next); !strings.Contains(seen(), line) {
		t.Errorf("under another secret: %s", seen())
	}

	again := post(replica, "k1", ended(next, trigger))
	_, data, _ = strings.Cut(string(again.body), "event: response.output_item.done\ndata: ")
	if post(first, "k1", ended(itemsBody(0, 0, ""), gjson.Get(data, "item").Raw)); !strings.Contains(seen(), `[Record] word word word\n[Record]`) {
		t.Errorf("a record of a record: %s", seen())
	}

	theirs := `{"type":"compaction","encrypted_content":"gAAAAA"}`
	if post(first, "k1", ended(itemsBody(0, 0, ""), theirs)); !strings.Contains(seen(), theirs) {
		t.Errorf("another vendor's: %s", seen())
	}
	plain := `{"model":"gpt-5","store":false,"input":[{"role":"user","content":"hi"},` + trigger + `]}`
	if res := post(first, "k1", plain); gjson.GetBytes(res.body, "output.0.type").String() != "compaction" {
		t.Errorf("without a stream: %s", res.body)
	}
	tooLong := true // at the first try
	u.Config.Handler = u.recording(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusBadRequest)
		said := refusal
		if tooLong {
			said = `{"error":{"message":"This model's maximum context length is 4000 tokens. However, your messages resulted in 9000 tokens.","code":"context_length_exceeded"}}`
		}
		tooLong = false
		_, _ = io.WriteString(w, said)
	})
	late := inFrontOf(t, u, windowed(100_000), sealing(t, "a secret of this test"))
	if res := post(late, "k1", ended(itemsBody(40, 5, ""), trigger)); res.StatusCode != 200 || !strings.Contains(string(res.body), sealPrefix) || tooLong {
		t.Errorf("too long at first: %d %s", res.StatusCode, res.body)
	}
	if r := late.replies(1)[0].Retry; r == nil || r.Reason != "compaction" || r.Why != "here" || !r.Sent || !r.Answered || r.First <= r.Second || r.Second == 0 || r.Limit != 4000 || r.Form == "" {
		t.Errorf("too long at first: %+v", r)
	}
	u.Config.Handler = handler
	refusal = `{"error":{"message":"the model is too busy"}}`
	if res := post(first, "k1", plain); res.StatusCode != status || string(res.body) != refusal {
		t.Errorf("refused for something else: %d %s", res.StatusCode, res.body)
	}
	status = http.StatusNotFound
	if res := post(first, "k1", plain); res.StatusCode != status || string(res.body) != refusal {
		t.Errorf("no such model: %d %s", res.StatusCode, res.body)
	}
	if refusal = "404 page not found"; post(first, "k1", plain).StatusCode != 200 {
		t.Errorf("no such path is not answered")
	}
	unsealed := inFrontOf(t, u, windowed(100_000))
	if res := post(unsealed, "k1", plain); res.StatusCode != status || string(res.body) != refusal {
		t.Errorf("without a secret: %d %s", res.StatusCode, res.body)
	}
}
