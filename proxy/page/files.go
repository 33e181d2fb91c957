package page

import (
	"bytes"
	"cmp"
	"embed"
	"net/http"
	"path"
	"strings"

	"laconic/view"
)

//go:embed static
var static embed.FS

// SignIn is the path of the form that asks for the token.
const SignIn = "/page/sign-in"

// kinds are the files of the page, by how their names end.
var kinds = map[string]string{
	".html": "text/html; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".svg":  "image/svg+xml",
}

// file serves a file of the page.
func (p *Page) file(w http.ResponseWriter, r *http.Request) {
	p.serveFile(w, cmp.Or(strings.TrimPrefix(r.URL.Path, "/page/"), "index.html"), http.StatusOK)
}

func (p *Page) serveFile(w http.ResponseWriter, name string, status int) {
	text, err := static.ReadFile("static/" + name)
	if err != nil {
		text, err = view.Files.ReadFile("static/" + name)
	}
	kind := kinds[path.Ext(name)]
	if err != nil || kind == "" || strings.Contains(name, "/") {
		notFound(w)
		return
	}
	if status == http.StatusForbidden {
		text = bytes.Replace(text, []byte(` hidden>That`), []byte(">That"), 1)
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// safe sets what keeps a browser from doing anything with a page but to show it.
func safe(h http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to := w.Header()
		to.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'")
		to.Set("X-Content-Type-Options", "nosniff")
		to.Set("X-Frame-Options", "DENY")
		to.Set("Referrer-Policy", "same-origin")
		to.Set("Cross-Origin-Opener-Policy", "same-origin")
		to.Set("Cross-Origin-Resource-Policy", "same-origin")
		h(w, r)
	})
}

// longestToken bounds what is read of the form.
const longestToken = 8 << 10

// serveSignIn is the form that asks for the token, and takes it.
func (p *Page) serveSignIn(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		p.serveFile(w, "sign-in.html", http.StatusOK)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, longestToken)
	switch {
	case r.PostFormValue("leave") != "":
		p.o.Proxy().SignOut(w)
		http.Redirect(w, r, SignIn, http.StatusSeeOther)
	case p.o.Proxy().SignIn(w, r, r.PostFormValue("token")):
		http.Redirect(w, r, "/page/", http.StatusSeeOther)
	default:
		p.serveFile(w, "sign-in.html", http.StatusForbidden)
	}
}
