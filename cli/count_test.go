package cli

import (
	"testing"
)

// TestALineIsAJSONString: what is anything else is refused, and bytes that are
// not UTF-8 are no JSON either.
func TestALineIsAJSONString(t *testing.T) {
	f := func(line, want string, fine bool) {
		t.Helper()
		if got, err := stringOf([]byte(line)); string(got) != want || (err == nil) != fine {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
	f(`"a\nb"`+"\r\n", "a\nb", true)
	f(" \n", "", true)
	f("\"\ufffd\"", "\ufffd", true)
	f(`"\ud800"`, "\ufffd", true)
	for _, line := range []string{"1", "null", "{}", `"a`, `"a" "b"`, "\"a\xe2\x82 b\"", "\xff", "\"\xed\xa0\x80\""} {
		f(line, "", false)
	}
}
