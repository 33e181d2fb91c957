package strict_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"laconic/demo/strict"
)

// chat is a request with these messages and nothing else.
func chat(messages ...string) string {
	return `{"model":"gpt-4o","messages":[` + strings.Join(messages, ",") + `]}`
}

const (
	user = `{"role":"user","content":"hi"}`
	asst = `{"role":"assistant","content":"hello"}`
	sys  = `{"role":"system","content":"be brief"}`
)

func calls(ids ...string) string {
	var list []string
	for _, id := range ids {
		list = append(list, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":"read","arguments":"{}"}}`, id))
	}
	return `{"role":"assistant","content":null,"tool_calls":[` + strings.Join(list, ",") + `]}`
}

func result(id string) string {
	return fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":"ok"}`, id)
}

// verdict is what an upstream says to a body: by Read, and the same by HTTP.
type verdict struct {
	status               int
	message, param, code string
}

func ask(t *testing.T, up *strict.Upstream, body string) verdict {
	t.Helper()
	rec := httptest.NewRecorder()
	up.ServeHTTP(rec, httptest.NewRequest(http.MethodPost, "/v1/chat/completions", strings.NewReader(body)))
	var sent struct {
		Error *struct {
			Message, Type string
			Param, Code   *string
		}
	}
	if err := json.Unmarshal(rec.Body.Bytes(), &sent); err != nil {
		t.Fatalf("the answer is not JSON: %v\n%s", err, rec.Body)
	}
	_, r := up.Read("/chat/completions", []byte(body))
	if (r == nil) != (rec.Code == http.StatusOK) {
		t.Fatalf("Read says %v, ServeHTTP answered %d", r, rec.Code)
	}
	if r == nil {
		return verdict{status: rec.Code}
	}
	if r.Status != rec.Code || string(r.Body(false)) != rec.Body.String() {
		t.Fatalf("Read says %d %s, ServeHTTP answered %d %s", r.Status, r.Body(false), rec.Code, rec.Body)
	}
	return verdict{r.Status, r.Message, r.Param, r.Code}
}

// taken returns the answer to a body that an upstream takes.
func taken(t *testing.T, up *strict.Upstream, path, body string) string {
	t.Helper()
	rec, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	r.Header.Set("X-Api-Key", "k")
	if up.ServeHTTP(rec, r); rec.Code != http.StatusOK {
		t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	return rec.Body.String()
}

func TestLegalConversationsAreAnswered(t *testing.T) {
	up := strict.New(strict.Options{})
	f := func(messages ...string) {
		t.Helper()
		if v := ask(t, up, chat(messages...)); v.status != 200 {
			t.Errorf("refused: %+v", v)
		}
	}
	f(user)
	f(sys, user, asst, user)
	f(user, sys, asst, asst, user, user)                                             // any order
	f(`{"role":"developer","content":"x"}`, asst)                                    // assistant last
	f(user, calls("a", "b"), result("b"), result("a"))                               // order of results is free
	f(user, calls("a"), result("a"), calls("a"), result("a"))                        // ids come again in later rounds
	f(user, `{"role":"assistant","refusal":"no"}`)                                   // the schema has refusals without content
	f(user, `{"role":"assistant","content":null,"audio":{"id":"audio_1"}}`)          // and sounds
	f(`{"role":"user","content":""}`)                                                // empty text is text
	f(`{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url"}]}`) // parts
	f(`{"role":"user","content":[{"type":"something_new","x":1}]}`)
	f(user, `{"role":"assistant","function_call":{"name":"read","arguments":"{}"}}`, `{"role":"function","name":"read","content":"ok"}`)
	f(user, `{"role":"assistant","content":"x","function_call":null}`)
	f(user, `{"role":"assistant","tool_calls":[{"id":"a","type":"custom","custom":{"name":"sql","input":"select 1"}}]}`, result("a"))
}

func TestRefusals(t *testing.T) {
	up := strict.New(strict.Options{})
	f := func(body string, wantStatus int, wantText, wantParam, wantCode string) {
		t.Helper()
		v := ask(t, up, body)
		if v.status != wantStatus || !strings.Contains(v.message, wantText) || v.param != wantParam || v.code != wantCode {
			t.Errorf("got  %+v\nwant {%d … %q … %q %q}", v, wantStatus, wantText, wantParam, wantCode)
		}
	}

	// Tool calls and their results.
	unanswered := "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
		"The following tool_call_ids did not have response messages: "
	orphan := "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
	f(chat(user, calls("a")), 400, unanswered+"a", "messages", "")
	f(chat(user, calls("a", "b", "c"), result("b")), 400, unanswered+"a, c", "messages", "")
	f(chat(user, calls("a"), user, result("a")), 400, unanswered+"a", "messages", "")
	f(chat(user, calls("a", "b"), result("a"), user, result("b")), 400, unanswered+"b", "messages", "")
	f(chat(user, calls("a"), calls("b"), result("b"), result("a")), 400, unanswered+"a", "messages", "")
	f(chat(user, calls("a", "a"), result("a")), 400, unanswered+"a", "messages", "")
	f(chat(result("a"), user), 400, orphan, "messages.[0].role", "")
	f(chat(user, asst, result("a")), 400, orphan, "messages.[2].role", "")
	f(chat(user, calls("a"), result("a"), asst, result("a")), 400, orphan, "messages.[4].role", "")
	f(chat(user, calls("a"), result("b")), 400, "'tool_call_id' of 'b' not found in 'tool_calls' of previous message.", "messages.[2].tool_call_id", "")
	f(chat(user, calls("a"), result("a"), result("a")), 400,
		"Invalid parameter: Duplicate value for 'tool_call_id' of 'a', in messages[2] and messages[3].", "messages.[3].tool_call_id", "")
	f(chat(user, calls("a", "a"), result("a"), result("a")), 400, "Duplicate value for 'tool_call_id' of 'a'", "messages.[3].tool_call_id", "")
	f(chat(user, calls("a"), `{"role":"tool","content":"ok"}`), 400,
		"Missing parameter 'tool_call_id': messages with role 'tool' must have a 'tool_call_id'", "messages[2].tool_call_id", "")
	f(chat(user, calls("a"), `{"role":"tool","tool_call_id":null,"content":"ok"}`), 400, "Missing parameter 'tool_call_id'", "messages[2].tool_call_id", "")

	// The legacy form.
	legacy := `{"role":"assistant","content":null,"function_call":{"name":"read","arguments":"{}"}}`
	answer := `{"role":"function","name":"read","content":"ok"}`
	f(chat(user, legacy), 400, "The following function did not have a response message: read", "messages", "")
	f(chat(user, legacy, answer, answer), 400, "messages with role 'function' must be a response", "messages.[3].role", "")
	f(chat(user, legacy, `{"role":"function","name":"write","content":"ok"}`), 400, "messages with role 'function' must be", "messages.[2].role", "")
	f(chat(user, calls("a"), answer), 400, "messages with role 'function' must be", "messages.[2].role", "")
	f(chat(user, legacy, result("a")), 400, orphan, "messages.[2].role", "")
	f(chat(user, `{"role":"function","content":"ok"}`), 400, "Missing required parameter: 'messages[1].name'.", "messages[1].name", "missing_required_parameter")

	// Sizes.
	emptyList := "': empty array. Expected an array with minimum length 1, but got an empty array instead."
	f(chat(user, `{"role":"assistant","content":"x","tool_calls":[]}`), 400, "Invalid 'messages[1].tool_calls"+emptyList, "messages[1].tool_calls", "empty_array")
	f(chat(), 400, "Invalid 'messages"+emptyList, "messages", "empty_array")
	f(chat(`{"role":"user","content":[]}`), 400, "Invalid 'messages[0].content"+emptyList, "messages[0].content", "empty_array")
	f(chat(user, calls("")), 400, "Invalid 'messages[1].tool_calls[0].id': empty string.", "messages[1].tool_calls[0].id", "empty_string")

	// Content and roles.
	noContent := "Invalid value for 'content': expected a string, got null."
	f(chat(user, `{"role":"assistant","content":null}`), 400, noContent, "messages[1].content", "")
	f(chat(user, `{"role":"assistant"}`), 400, noContent, "messages[1].content", "")
	f(chat(`{"role":"user","content":null}`), 400, noContent, "messages[0].content", "")
	f(chat(user, calls("a"), `{"role":"tool","tool_call_id":"a","content":null}`), 400, noContent, "messages[2].content", "")
	f(chat(`{"role":"user","content":7}`), 400, "Invalid type for 'messages[0].content'.", "messages[0].content", "invalid_type")
	f(chat(`{"role":"user","content":["x"]}`), 400, "Invalid type for 'messages[0].content'.", "messages[0].content", "invalid_type")
	f(chat(`{"role":"user","content":[{"text":"x"}]}`), 400, "Missing required parameter: a part of 'messages[0].content[0]'.", "messages[0].content", "missing_required_parameter")
	f(chat(`{"role":"robot","content":"x"}`), 400,
		"Invalid value: 'robot'. Supported values are: 'system', 'assistant', 'user', 'function', 'tool', and 'developer'.", "messages[0].role", "invalid_value")
	f(chat(`{"content":"x"}`), 400, "Invalid value: ''.", "messages[0].role", "invalid_value")
	f(chat(`{"role":1.5,"content":"x"}`), 400, "Invalid type for 'messages[0].role'.", "messages[0].role", "invalid_type")
	f(chat(`null`), 400, "Invalid value: ''.", "messages[0].role", "invalid_value")
	f(chat(user, `{"role":"assistant","content":"x","tool_calls":null}`), 400, "Invalid 'messages[1].tool_calls"+emptyList, "messages[1].tool_calls", "empty_array")
	f(chat(user, `{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":{}}}]}`), 400,
		"Invalid type for 'messages[1].tool_calls'.", "messages[1].tool_calls", "invalid_type")
	f(chat(user, `{"role":"assistant","tool_calls":[{"id":"a","type":"magic"}]}`), 400, "Supported values are: 'function' and 'custom'.", "messages[1].tool_calls[0].type", "invalid_value")

	// The body.
	noJSON := "We could not parse the JSON body of your request."
	f(``, 400, noJSON, "", "")
	f(`[]`, 400, noJSON, "", "")
	f(`null`, 400, noJSON, "", "")
	f(`{"model":"m"} trailing`, 400, noJSON, "", "")
	f(strings.Repeat("[", 6<<20), 400, noJSON, "", "")
	f(`{"messages":[`+user+`]}`, 400, "you must provide a model parameter", "", "")
	f(`{"model":"m"}`, 400, "Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
	f(`{"model":"m","messages":{}}`, 400, "Invalid type for 'messages'.", "messages", "invalid_type")
	f(`{"model":"m","messages":null}`, 400, "Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
	f(`{"model":"m","stream":"yes","messages":[`+user+`]}`, 400, "Invalid type for 'stream'.", "stream", "invalid_type")
}
