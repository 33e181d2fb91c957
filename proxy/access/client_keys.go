package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"laconic/proxy/apierror"
)

// ClientKeys are the hashes of the keys that may use this proxy. Hashes have one
// length, so comparing them takes the same time whatever a client presents.
type ClientKeys [][sha256.Size]byte

// HashKeys returns the hashes of keys.
func HashKeys(keys ...Secret) ClientKeys {
	var hashes ClientKeys
	for _, k := range keys {
		hashes = append(hashes, sha256.Sum256([]byte(k)))
	}
	return hashes
}

// Index returns the index of the key that a request presents, or -1. Every pair
// is compared, whatever the outcome of the others.
func (ks ClientKeys) Index(h http.Header) int {
	found := -1
	for _, key := range presented(h) {
		if i := ks.indexOf(key); i >= 0 {
			found = i
		}
	}
	return found
}

// indexOf returns the index of a key, or -1, in the same time for all keys.
func (ks ClientKeys) indexOf(key string) int {
	found := -1
	sum := sha256.Sum256([]byte(key))
	for i := range ks {
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], ks[i][:]), i, found)
	}
	return found
}

// Owner returns what the sender of a request is known by: the client key that it
// presents, or, where there are none, the first key that it presents; else the value
// of the first of its headers that hold credentials, as in a cookie, or "".
//
// All requests with a key have one owner, whatever else is in their headers. So whoever
// knows the key can name it.
func (ks ClientKeys) Owner(h http.Header) string {
	if keys := presented(h); len(keys) > 0 {
		known := slices.IndexFunc(keys, func(key string) bool { return ks.indexOf(key) >= 0 })
		return keys[max(0, known)]
	}
	if all := Credentials(h); len(all) > 2 {
		return all[2] // behind its name and the number of its values
	}
	return ""
}

// Check refuses a request that presents none of the keys. Without keys, every
// request passes.
func (ks ClientKeys) Check(h http.Header) *apierror.Error {
	if len(ks) == 0 || ks.Index(h) >= 0 {
		return nil
	}
	return &apierror.Error{
		Status: http.StatusUnauthorized, Code: "invalid_api_key",
		Message: "Incorrect API key provided to the proxy.",
		Hint:    "It expects one of its own client keys.",
	}
}

// presented returns the keys of a request, from the places where OpenAI's,
// Azure's and Anthropic's clients put them. A header that is sent twice is not
// read: two readers could pick different values.
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
