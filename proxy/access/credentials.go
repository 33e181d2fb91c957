package access

import (
	"bytes"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// credentialWords make a header a credential wherever its name contains one. A
// list of names would miss the next gateway's header; removing one header too
// many costs nothing where a key of ours is sent.
var credentialWords = [][]byte{
	[]byte("authorization"), []byte("api-key"), []byte("apikey"), []byte("token"), []byte("secret"), []byte("cookie"),
	[]byte("credential"), []byte("password"), []byte("-auth"), []byte("jwt"), []byte("assertion"),
	[]byte("openai-organization"), []byte("openai-project"),
}

// IsCredential reports whether a header of this name may hold a credential.
func IsCredential(name string) bool {
	switch name { // nearly all requests have these, and they hold none
	case "Accept", "Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "User-Agent":
		return false
	}
	var buf [64]byte
	dashed := AppendDashed(buf[:0], name)
	for _, w := range credentialWords {
		if bytes.Contains(dashed, w) {
			return true
		}
	}
	// As in Ocp-Apim-Subscription-Key and X-Portkey-Virtual-Key. An idempotency
	// key names a request, not its sender.
	return bytes.HasSuffix(dashed, []byte("-key")) && !bytes.HasSuffix(dashed, []byte("idempotency-key"))
}

// Credentials returns the headers that say who sends a request, sorted by name,
// each as its name, the number of its values and the values. No two senders have
// the same list.
func Credentials(h http.Header) (all []string) {
	var names []string
	for name := range h {
		if IsCredential(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		all = append(all, http.CanonicalHeaderKey(name), strconv.Itoa(len(h[name])))
		all = append(all, h[name]...)
	}
	return all
}

// AppendDashed appends a header's name in lower case, with dashes for underscores:
// servers behind CGI-like interfaces read X_Api_Key as X-Api-Key. Names of headers
// are ASCII.
func AppendDashed(dst []byte, name string) []byte {
	for i := range len(name) {
		c := name[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c == '_':
			c = '-'
		}
		dst = append(dst, c)
	}
	return dst
}

// SetCredential leaves on out only the credential that may go to an upstream:
// key, in the place where the endpoint's clients put one. Without a key, the
// client's own credential stays if the upstream mayHaveClients.
func SetCredential(out http.Header, key Secret, mayHaveClients bool, endpoint string) {
	if key == "" && mayHaveClients {
		return
	}
	azure := out.Get("Api-Key") != "" && out.Get("Authorization") == ""
	anthropic := strings.HasPrefix(endpoint, Messages) || endpoint == Models && out.Get("Anthropic-Version") != ""
	for name := range out {
		if IsCredential(name) {
			delete(out, name)
		}
	}
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
