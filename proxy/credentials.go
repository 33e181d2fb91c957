package proxy

import (
	"crypto/sha256"
	"crypto/subtle"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"laconic/proxy/apierror"
)

// clientKeys are the hashes of the keys that may use this proxy. Hashing makes
// all of one length, so that comparing them takes the same time whatever is
// presented.
type clientKeys [][sha256.Size]byte

func hashKeys(keys []Secret) clientKeys {
	var hashes clientKeys
	for _, k := range keys {
		hashes = append(hashes, sha256.Sum256([]byte(k)))
	}
	return hashes
}

// which returns the place of the key that is among those presented, -1 if none
// is. Every pair is compared, whatever the outcome of the others.
func (ks clientKeys) which(presented []string) int {
	found := -1
	for _, p := range presented {
		sum := sha256.Sum256([]byte(p))
		for i := range ks {
			found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], ks[i][:]), i, found)
		}
	}
	return found
}

// check refuses a request without a key that may use this proxy.
func (ks clientKeys) check(h http.Header) *apierror.Error {
	if len(ks) == 0 || ks.which(presented(h)) >= 0 {
		return nil
	}
	return &apierror.Error{
		Status: http.StatusUnauthorized, Code: "invalid_api_key",
		Message: "Incorrect API key provided to the proxy.",
		Hint:    "It expects one of its own client keys.",
	}
}

// presented are the keys a request shows, in the places where OpenAI's, Azure's
// and Anthropic's clients put them. A header that is sent twice shows nothing:
// two readers could pick different ones.
func presented(h http.Header) []string {
	var keys []string
	if v := h["Authorization"]; len(v) == 1 {
		if scheme, key, ok := strings.Cut(v[0], " "); ok && strings.EqualFold(scheme, "Bearer") {
			keys = append(keys, strings.TrimSpace(key))
		}
	}
	for _, name := range []string{"Api-Key", "X-Api-Key"} {
		if v := h[name]; len(v) == 1 {
			keys = append(keys, strings.TrimSpace(v[0]))
		}
	}
	return keys
}

// credentialWords make a header a credential wherever they stand in its name.
// A list of names would miss the next gateway's header; removing one too many
// costs nothing where a key of ours is sent.
var credentialWords = []string{
	"authorization", "api-key", "apikey", "token", "secret", "cookie", "credential", "password",
	"-auth", "jwt", "assertion", "openai-organization", "openai-project",
}

func credentialHeader(name string) bool {
	name = dashed(name)
	for _, w := range credentialWords {
		if strings.Contains(name, w) {
			return true
		}
	}
	// As in Ocp-Apim-Subscription-Key and X-Portkey-Virtual-Key. One that names
	// a request, new with each, says nothing of who sends it.
	return strings.HasSuffix(name, "-key") && !strings.HasSuffix(name, "idempotency-key")
}

// credentials are the headers that say who sends a request, in order, each as
// its name, the number of its values and the values: no two senders give the
// same list.
func credentials(h http.Header) (all []string) {
	for _, name := range slices.Sorted(maps.Keys(h)) {
		if credentialHeader(name) {
			all = append(all, http.CanonicalHeaderKey(name), strconv.Itoa(len(h[name])))
			all = append(all, h[name]...)
		}
	}
	return all
}

// dashed is a header's name in lower case with dashes: servers behind CGI-like
// interfaces read X_Api_Key as X-Api-Key.
func dashed(name string) string {
	return strings.ReplaceAll(strings.ToLower(name), "_", "-")
}

// setCredential leaves on out only the credential that may go to route, by the
// table "Whose key goes where". endpoint is what is asked for.
func (p *Proxy) setCredential(out http.Header, route *Route, endpoint string) {
	if route.Key == "" && len(p.keys) == 0 &&
		(route.ClientCredential || sameOrigin(route.Upstream, p.o.Default.Upstream)) {
		return // the client's own headers, untouched
	}
	azure := out.Get("Api-Key") != "" && out.Get("Authorization") == ""
	anthropic := strings.HasPrefix(endpoint, messages) || endpoint == models && out.Get("Anthropic-Version") != ""
	for name := range out {
		if credentialHeader(name) {
			delete(out, name)
		}
	}
	switch {
	case route.Key == "":
	case anthropic:
		out.Set("X-Api-Key", string(route.Key))
	case azure: // a client of Azure talks to an Azure upstream, which wants the key there
		out.Set("Api-Key", string(route.Key))
	default:
		out.Set("Authorization", "Bearer "+string(route.Key))
	}
}

// mayCarry refuses what is not served where a key of ours is sent: with it a
// client could otherwise reach files, batches or settings of the account.
func mayCarry(route *Route, r *http.Request) *apierror.Error {
	if route.Key == "" || servedWithKey(r.Method, r.URL) {
		return nil
	}
	return &apierror.Error{
		Status: http.StatusNotFound, Code: "path_not_served",
		Message: "With a key of its own the proxy serves only " + ServedWithKey() + ".",
	}
}

// sameOrigin compares scheme, host and port.
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && portOf(a) == portOf(b)
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
