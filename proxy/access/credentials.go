package access

import (
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// credentialWords make a header a credential wherever its name contains one. A
// list of names would miss the next gateway's header; removing one header too
// many costs nothing where a key of ours is sent.
var credentialWords = []string{
	"authorization", "api-key", "apikey", "token", "secret", "cookie", "credential", "password", "-auth", "jwt", "assertion",
	"openai-organization", "openai-project",
}

// IsCredential reports whether a header of this name may hold a credential.
func IsCredential(name string) bool {
	dashed := Dashed(name)
	if slices.ContainsFunc(credentialWords, func(w string) bool { return strings.Contains(dashed, w) }) {
		return true
	}
	// As in Ocp-Apim-Subscription-Key and X-Portkey-Virtual-Key. An idempotency
	// key names a request, not its sender.
	return strings.HasSuffix(dashed, "-key") && !strings.HasSuffix(dashed, "idempotency-key")
}

// Credentials returns the headers that say who sends a request, sorted by name,
// each as its name, the number of its values and the values. No two senders have
// the same list.
func Credentials(h http.Header) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if IsCredential(name) {
			all = append(all, http.CanonicalHeaderKey(name), strconv.Itoa(len(h[name])))
			all = append(all, h[name]...)
		}
	}
	return all
}

// Dashed returns a header's name in lower case, with dashes for underscores: servers
// behind CGI-like interfaces read X_Api_Key as X-Api-Key.
func Dashed(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// SetCredential leaves on out only the credential that may go to an upstream:
// key, in the place where the endpoint's clients put one. Without a key, the
// client's own credential stays if the upstream mayHaveClients.
func SetCredential(out http.Header, key Secret, mayHaveClients bool, endpoint string) {
	if key == "" && mayHaveClients {
		return
	}
	azure := out.Get("Api-Key") != "" && out.Get("Authorization") == ""
	anthropic := strings.HasPrefix(endpoint, Messages) || endpoint == Models && out.Get("Anthropic-Version") != ""
	maps.DeleteFunc(out, func(name string, _ []string) bool { return IsCredential(name) })
	switch {
	case key == "":
	case anthropic:
		out.Set("X-Api-Key", string(key))
	case azure: // a client of Azure talks to an Azure upstream, which reads the key there
		out.Set("Api-Key", string(key))
	default:
		out.Set("Authorization", "Bearer "+string(key))
	}
}

// Secret is a credential that hides itself: printed, logged or encoded it is ***,
// or empty if it is. string(s) is the value.
type Secret string

// String returns *** for a secret that is not empty.
func (s Secret) String() string {
	if s == "" {
		return ""
	}
	return "***"
}

// Format writes String for every verb. Without it %d would print the value.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, s.String()) }

// MarshalText hides the value from JSON, YAML, zap and log/slog alike.
func (s Secret) MarshalText() ([]byte, error) { return []byte(s.String()), nil }
