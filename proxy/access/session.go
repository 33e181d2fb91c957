package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Sessions let browsers in that have presented a token once. The cookie holds when
// the session ends and a keyed hash of that, and neither the token nor anything
// that is worth something elsewhere: cookies of a host go to all its ports. The key
// is new with each process, so a restart ends all sessions, and so does another
// token.
type Sessions struct{ key []byte }

// sessionLife is how long a session lasts.
const sessionLife = 12 * time.Hour

// sessionCookie is the name of the cookie.
const sessionCookie = "laconic_admin"

// NewSessions returns no sessions.
func NewSessions() *Sessions { return &Sessions{[]byte(rand.Text())} }

// Start begins a session where given is the token, and reports whether it is.
func (s *Sessions) Start(w http.ResponseWriter, token Secret, given string, now time.Time) bool {
	if token == "" || HashKeys(token).indexOf(given) < 0 {
		return false
	}
	ends := strconv.FormatInt(now.Add(sessionLife).Unix(), 10)
	http.SetCookie(w, &http.Cookie{
		Name: sessionCookie, Value: ends + "." + s.sign(token, ends), Path: "/", MaxAge: int(sessionLife / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode,
	})
	return true
}

// End ends the session of a browser.
func (s *Sessions) End(w http.ResponseWriter) {
	http.SetCookie(w, &http.Cookie{Name: sessionCookie, Path: "/", MaxAge: -1, HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// Holds reports whether a request is of a session that began with this token.
func (s *Sessions) Holds(r *http.Request, token Secret, now time.Time) bool {
	c, err := r.Cookie(sessionCookie)
	if err != nil || token == "" {
		return false
	}
	ends, sign, _ := strings.Cut(c.Value, ".")
	if subtle.ConstantTimeCompare([]byte(sign), []byte(s.sign(token, ends))) != 1 {
		return false
	}
	at, err := strconv.ParseInt(ends, 10, 64)
	return err == nil && now.Unix() < at
}

func (s *Sessions) sign(token Secret, ends string) string {
	mac := hmac.New(sha256.New, s.key)
	sum := sha256.Sum256([]byte(token))
	mac.Write(sum[:])
	mac.Write([]byte(ends))
	return hex.EncodeToString(mac.Sum(nil))
}

// OwnOrigin reports whether a request comes from a page of the host that it goes
// to. A request without an Origin does not: browsers send one with every request
// that may change something.
func OwnOrigin(r *http.Request) bool {
	all := r.Header.Values("Origin")
	if len(all) != 1 {
		return false
	}
	u, err := url.Parse(all[0])
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}
