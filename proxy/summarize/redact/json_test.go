package redact

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestSecretsOfJSONAreMasked however they are written, and nothing else.
func TestSecretsOfJSONAreMasked(t *testing.T) {
	f := func(in, want string) {
		t.Helper()
		got, err := JSON([]byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s\ngot  %s (%v)\nwant %s", in, got, err, want)
		}
		if again, err := JSON(got); err != nil || string(again) != string(got) {
			t.Errorf("masked again: %s (%v)", again, err)
		}
	}
	// By its shape, in any string and any name, also in several values.
	f(`{"a": ["see sk-proj-abcDEF123456789012345678 x"]}`, `{"a": ["see [secret] x"]}`)
	f(`{"ghp_abcdefghijklmnopqrstuvwxyz0123456789":1}`, `{"[secret]":"[secret]"}`)
	f("\"ghp_abcdefghijklmnopqrstuvwxyz0123456789\"\n{}\n", "\"[secret]\"\n{}\n")
	// Across escapes.
	f(`["s\u006b-proj-abcDEF\u0031\u003256789012345678"]`, `["[secret]"]`)
	f(`["password=hunter\u0032\u0032"]`, `["password=[secret]"]`)
	f(`["https:\/\/me:hunter22@h\/x"]`, `["https://me:[secret]@h/x"]`)
	// By its name, whatever it looks like.
	f(`{"password":"a"}`, `{"password":"[secret]"}`)
	f(`{"pass\u0077ord" : "a b c d e f g"}`, `{"pass\u0077ord" : "[secret]"}`)
	f(`{"PASSWORD":"string","DB_PASS":"x"}`, `{"PASSWORD":"[secret]","DB_PASS":"[secret]"}`)
	f(`{"api_key":"a\"b","apiKey":"\u0022","x-api-key":"c"}`, `{"api_key":"[secret]","apiKey":"[secret]","x-api-key":"[secret]"}`)
	f(`{"clientSecret":["a",{"b":"c"},["d"]],"e":"f"}`, `{"clientSecret":["[secret]",{"b":"[secret]"},["[secret]"]],"e":"f"}`)
	f(`{"password":123456, "n":123456}`, `{"password":"[secret]", "n":123456}`)
	f(`{"headers":{"Authorization":"Token x","Cookie":"a=b","X-Auth-Token":"c"}}`, `{"headers":{"Authorization":"[secret]","Cookie":"[secret]","X-Auth-Token":"[secret]"}}`)
	f(`{"password":"a","password":"b"}`, `{"password":"[secret]","password":"[secret]"}`)
	f(`{"secret":{"inner":"a","n":[{"deep":"b"}]},"e":"f"}`, `{"secret":{"inner":"[secret]","n":[{"deep":"[secret]"}]},"e":"f"}`)
	f(`{"headers":[{"name":"Authorization","value":"Token x"},{"name":"Accept","value":"y"}]}`,
		`{"headers":[{"name":"Authorization","value":"[secret]"},{"name":"Accept","value":"y"}]}`)
	f(`[{"key":"API_KEY","value":"x","name2":"y"},{"value":"z"}]`, `[{"key":"API_KEY","value":"[secret]","name2":"y"},{"value":"z"}]`)
	// By both.
	f(`{"token":"0123456789abcdef0"}`, `{"token":"[secret]"}`)
	f(`{"token":"abc","CSRF_TOKEN":"b","session_id":"c","max_tokens":9,"tokens":["d"]}`,
		`{"token":"[secret]","CSRF_TOKEN":"[secret]","session_id":"[secret]","max_tokens":9,"tokens":["d"]}`)
	// In JSON in a string, and in that of its strings.
	f(`{"arguments":"{\"password\":\"a\",\"path\":\"b\"}"}`, `{"arguments":"{\"password\":\"[secret]\",\"path\":\"b\"}"}`)
	f(`{"arguments":"{\"k\": \"s\\u006b-proj-abcDEF123456789012345678\"}"}`, `{"arguments":"{\"k\": \"[secret]\"}"}`)
	f(`{"content":"[{\"body\":\"{\\\"api_key\\\":\\\"a\\\"}\"}]"}`, `{"content":"[{\"body\":\"{\\\"api_key\\\":\\\"[secret]\\\"}\"}]"}`)
	f(`{"content":"\"{\\\"api_key\\\":\\\"a\\\"}\""}`, `{"content":"\"{\\\"api_key\\\":\\\"[secret]\\\"}\""}`)
	f(`{"content":"{\"secret\":\"a\"}\n{\"secret\":\"b\"}"}`, `{"content":"{\"secret\":\"[secret]\"}\n{\"secret\":\"[secret]\"}"}`)
	f(`{"content":"{\"password\":\"hunter22x\", cut"}`, `{"content":"{\"password\":\"[secret]\", cut"}`)
	// All else stays byte for byte.
	for _, plain := range []string{
		` {"n" : 1.50, "e":"\u00e9 \/ <b>", "messages":[{"role":"user","content":""}] } `, `{"max_tokens":4096,"prompt_cache_key":"0123456789abcdef0"}`, `null`,
		`{"password":"","secret":null,"api_key":true,"passwords":{"type":"string","enum":["a"],"minLength":8}}`, `{"a":1,"a":2}`, `["\ud800", "\u2028"]`, `{"content":"{not JSON}"}`,
		`{"nextPageToken":"CAUQAA1234567890abc","pwd":"/home/a","key":"ArrowDown","pass":true}`, "[\"\xff\"]", `{"tests_passed":"all of them","compass":"north"}`,
	} {
		f(plain, plain)
	}
	for _, bad := range []string{`{"a":`, `{"a":1]`, `{1:2}`, `"a`, `sk-proj-abcDEF123456789012345678`, strings.Repeat("[", 20_000)} {
		if got, err := JSON([]byte(bad)); err == nil {
			t.Errorf("%.40s: got %.40s", bad, got)
		}
	}
}

// FuzzJSON: what is masked is JSON of the same shape, and masking it again changes
// nothing.
func FuzzJSON(f *testing.F) {
	for _, s := range []string{`{"password":"a","b":["sk-proj-abcDEF123456789012345678",1]}`, `{"arguments":"{\"password\":\"a\"}"}`, `"\u0073\ud800"`, `{"a":1}{"b":"\"c\""}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, err := JSON(in)
		if err != nil {
			return
		}
		if json.Valid(in) && !json.Valid(out) {
			t.Fatalf("%q became %q", in, out)
		}
		again, err := JSON(out)
		if err != nil || string(again) != string(out) {
			t.Fatalf("%q became %q, and that %q (%v)", in, out, again, err)
		}
	})
}

// TestNestedJSONIsReadToADepth, so that the time is proportional to the text.
func TestNestedJSONIsReadToADepth(t *testing.T) {
	in := `{"credential":"a"}`
	for n := range mostNested + 2 {
		out, err := JSON([]byte(in))
		if found := strings.Contains(string(out), mask); err != nil || found != (n <= mostNested) {
			t.Errorf("%d deep: %s (%v)", n, out, err)
		}
		quoted, _ := json.Marshal(in)
		in = "[" + string(quoted) + "]"
	}
}
