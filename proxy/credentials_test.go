package proxy

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"laconic/proxy/access"
	"laconic/proxy/summarize"
)

// everyCredential is what clients of this world send.
var everyCredential = []string{
	"Authorization", "Bearer sk-client", "X-Api-Key", "sk-client", "Api-Key", "sk-client", "Cookie", "session=client",
	"Openai-Organization", "org-client", "Openai-Project", "proj-client", "X-Goog-Api-Key", "g-client", "Ocp-Apim-Subscription-Key", "client",
	"Helicone-Auth", "Bearer client", "X_api_key", "sk-client", "X-Amz-Security-Token", "client", "X-Litellm-Api-Key", "client",
}

func hasClientCredential(h http.Header) (names []string) {
	for name, v := range h {
		if strings.Contains(strings.Join(v, " "), "client") && name != "User-Agent" {
			names = append(names, name)
		}
	}
	return names
}

// Whose key goes where, row by row.

func TestTheClientsOwnHeadersGoToTheDefaultUpstreamUntouched(t *testing.T) {
	u, p := plain(t)
	p.chat(chatBody, everyCredential...)
	p.do("GET", "/v1/files", nil, everyCredential...)
	for _, got := range u.requests() {
		for i := 0; i < len(everyCredential); i += 2 {
			if v := got.Header.Values(everyCredential[i]); len(v) != 1 || v[0] != everyCredential[i+1] {
				t.Errorf("%s: %q", everyCredential[i], v)
			}
		}
	}
}

func TestAnotherOriginGetsNoCredentialUnlessAllowed(t *testing.T) {
	def, other := newUpstream(t, nil), newUpstream(t, nil)
	send := func(change func(*Route)) {
		inFrontOf(t, def, withRow(change)).chat(chatBody, everyCredential...)
	}
	send(func(r *Route) { r.Upstream = other.base(t, "/v1") })
	if names := hasClientCredential(other.only(t).Header); names != nil {
		t.Errorf("%v went to another origin", names)
	}
	send(func(r *Route) { r.Upstream, r.ClientCredential = other.base(t, "/v1"), true })
	if got := other.requests()[1].Header.Get("Authorization"); got != "Bearer sk-client" {
		t.Errorf("credential: client: Authorization %q", got)
	}
	// a row at the same origin under another path is the default upstream
	send(func(r *Route) { r.Upstream = def.base(t, "/other/v1") })
	if got := def.only(t); got.Header.Get("Authorization") != "Bearer sk-client" || got.URI != "/other/v1/chat/completions" {
		t.Errorf("%s, Authorization %q", got.URI, got.Header.Get("Authorization"))
	}
}

func TestOurKeyReplacesEveryCredentialOfTheClient(t *testing.T) {
	u, p := plain(t, func(o *Options) { o.Default.Key = "sk-ours" })
	p.chat(chatBody, everyCredential...)
	got := u.only(t)
	if names := hasClientCredential(got.Header); names != nil {
		t.Errorf("%v went out beside our key", names)
	}
	if a := got.Header.Values("Authorization"); len(a) != 1 || a[0] != "Bearer sk-ours" {
		t.Errorf("Authorization %q", a)
	}
	// a client of Azure has its key elsewhere, and so has its upstream
	p.do("POST", "/openai/deployments/gpt-4o/chat/completions?api-version=1", strings.NewReader(chatBody), "Api-Key", "client")
	got = u.requests()[1]
	if got.Header.Get("Api-Key") != "sk-ours" || got.Header.Get("Authorization") != "" {
		t.Errorf("%v", got.Header)
	}
	// no credential of the client's is needed
	p.chat(chatBody)
	if got := u.requests()[2]; got.Header.Get("Authorization") != "Bearer sk-ours" {
		t.Errorf("%v", got.Header)
	}
}

func TestOurKeyServesOnlyTheListedRoutesOnCleanPaths(t *testing.T) {
	u, p := plain(t, func(o *Options) { o.Default.Key = "sk-ours" })
	served := func(method, path string, want bool) {
		t.Helper()
		before := len(u.requests())
		answer := raw(t, p.addr, method+" "+path+" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}")
		if got := len(u.requests()) > before; got != want {
			t.Errorf("%s %s: served %v", method, path, got)
		}
		if want != (statusOf(t, answer) == 200) {
			t.Errorf("%s %s: %q", method, path, answer)
		}
	}
	for _, path := range slices.Concat(jsonEndpoints, formEndpoints) {
		for _, prefix := range []string{"/v1", ""} {
			served("POST", prefix+path, true)
			served("POST", prefix+path+"?a=b", true)
			served("POST", prefix+strings.ToUpper(path), false)
			served("GET", prefix+path, false)
			served("PUT", prefix+path, false)
			served("DELETE", prefix+path, false)
			served("POST", prefix+path+"/", false)
			served("POST", prefix+path+"/x", false)
			served("POST", prefix+path+"/../files", false)
			served("POST", prefix+path+";x", false)
			served("POST", prefix+"/."+path, false)
			served("POST", prefix+"/"+path, false)
			served("POST", prefix+strings.Replace(path, "s", "%73", 1), false)
		}
	}
	served("GET", "/v1/models", true)
	served("GET", "/models", true)
	served("GET", "/v1/models/gpt-4o", true)
	served("GET", "/v1/models/meta%2Fllama", true)
	served("GET", "/v1/models/meta/llama", true)
	served("DELETE", "/v1/models/gpt-4o", false)
	served("POST", "/v1/models", false)
	served("GET", "/v1/models/", false)
	served("GET", "/v1/models/..%2ffiles", false)
	served("GET", "/v1/models/%252e%252e/files", false)
	served("GET", "/v1/models/a%5cb", false)
	served("GET", "/v1/models/a%00b", false)
	served("POST", "/openai/deployments/a/chat/completions", true)
	served("POST", "/openai/deployments/a/embeddings", true)
	served("POST", "/openai/deployments/a/b/chat/completions", false)
	served("POST", "/openai/deployments/a%2Fb/chat/completions", false)
	served("POST", "/openai/deployments/a/files", false)
	for _, path := range []string{
		"/v1/files", "/v1/files/x/content", "/v1/batches", "/v1/fine_tuning/jobs", "/v1/organization/users", "/v1/threads", "/v1/responses/r_1",
		"/v1/responses/r_1/cancel", "/v1/messages/batches", "/v1/audio/voices", "/v1/realtime/sessions", "/", "/v1", "/V1/models", "/admin", "/v1/x/chat/completions", "//v1/chat/completions", "/v2/chat/completions",
	} {
		for _, method := range []string{"GET", "POST", "DELETE", "OPTIONS"} {
			served(method, path, false)
		}
	}
}

func TestClientKeysAreCheckedAndNeverSentOn(t *testing.T) {
	u, p := plain(t, func(o *Options) {
		o.Default.Key, o.ClientKeys = "sk-ours", []ClientKey{{Key: "key-one-client"}, {Key: "key-two-client"}}
	})
	f := func(want int, headers ...string) {
		t.Helper()
		for _, path := range []string{"/v1/chat/completions", "/v1/models"} {
			method := "POST"
			if path == "/v1/models" {
				method = "GET"
			}
			res := p.do(method, path, strings.NewReader(chatBody), headers...)
			res.want(t, want, path, headers)
			if want == 401 && (res.code(t) != "invalid_api_key" || res.Header.Get("Www-Authenticate") == "") {
				t.Errorf("%s", res.body)
			}
		}
	}
	f(200, "Authorization", "Bearer key-one-client")
	f(200, "Authorization", "bearer key-two-client")
	f(200, "X-Api-Key", "key-two-client")
	f(200, "Api-Key", "key-one-client")
	f(401)
	f(401, "Authorization", "Bearer ")
	f(401, "Authorization", "Bearer key-one")
	f(401, "Authorization", "Bearer key-one-client2")
	f(401, "Authorization", "Basic key-one-client")
	f(401, "Authorization", "key-one-client")
	f(401, "Authorization", "Bearer key-one-client", "Authorization", "Bearer key-one-client")
	f(401, "Cookie", "key-one-client")
	f(401, "X-Api-Key", "")
	for _, got := range u.requests() {
		if names := hasClientCredential(got.Header); names != nil || got.Header.Get("Authorization")+got.Header.Get("Api-Key") == "" {
			t.Errorf("%v went out: %v", names, got.Header)
		}
	}
}

func TestOptionsThatGiveAKeyAwayAreRefused(t *testing.T) {
	f := func(name string, change func(*Options), want ...string) {
		t.Helper()
		o := options(parseURL(t, "https://api.openai.com/v1"))
		change(&o)
		_, err := New(o)
		if len(want) == 0 {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			return
		}
		if err == nil {
			t.Errorf("%s: accepted", name)
			return
		}
		for _, w := range want {
			if !strings.Contains(err.Error(), w) {
				t.Errorf("%s: %q lacks %q", name, err, w)
			}
		}
		if strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: shows a secret: %v", name, err)
		}
	}
	f("fine", func(*Options) {})
	key := func(listen string) func(*Options) {
		return func(o *Options) { o.Listen, o.Default.Key = listen, "canary" }
	}
	f("key on loopback", key("127.0.0.1:7280"))
	f("key on ::1", key("[::1]:7280"))
	f("key on localhost", key("localhost:7280"))
	f("key for everybody", key("0.0.0.0:7280"), "client_keys")
	f("key for everybody, no host", key(":7280"), "client_keys")
	f("key on the network", key("192.168.1.5:7280"), "client_keys")
	f("a row's key for everybody", func(o *Options) {
		row := o.Default
		row.Key = "canary"
		o.Listen, o.Routes = ":7280", []*Route{&row}
	}, "client_keys")
	f("key with client keys", func(o *Options) { key(":7280")(o); o.ClientKeys = []ClientKey{{Key: "canary-client"}} })
	f("client keys without key", func(o *Options) { o.ClientKeys = []ClientKey{{Key: "canary"}} }, "needs an api_key")
	f("a row without key", func(o *Options) {
		row := o.Default
		row.Match = "x*"
		o.Default.Key, o.ClientKeys, o.Routes = "canary", []ClientKey{{Key: "canary"}}, []*Route{&row}
	}, `route "x*" needs an api_key`)
	f("the client's credential with client keys", func(o *Options) {
		key(":7280")(o)
		o.ClientKeys, o.Summarizer = []ClientKey{{Key: "canary"}}, &summarize.Options{ClientCredential: true}
	}, "the summarizer")
}

func TestAClientIsItsKeyOrItsAddress(t *testing.T) {
	open := start(t, options(parseURL(t, "http://127.0.0.1:9/v1")))
	o := options(parseURL(t, "http://127.0.0.1:9/v1"))
	o.Default.Key, o.ClientKeys = "sk-ours", []ClientKey{{Key: "first"}, {Key: "second"}}
	closed := start(t, o)
	f := func(p *running, address, key, want string) {
		t.Helper()
		r := &http.Request{RemoteAddr: address, Header: http.Header{
			"Authorization": {"Bearer " + key}, "X-Forwarded-For": {"192.0.2.77"}, "Forwarded": {"for=192.0.2.77"},
		}}
		x := &request{p: p.Proxy, settings: p.settings.Load(), r: r}
		if x.takeQuota(); x.client != want {
			t.Errorf("%s, %s: %q, want %q", address, key, x.client, want)
		}
	}
	hashOf := func(key access.Secret) string { return string(access.HashKeys(key)[0][:]) }
	f(open, "192.0.2.1:1000", "first", "192.0.2.1")
	f(open, "[::ffff:192.0.2.1]:1000", "first", "192.0.2.1")
	f(open, "[2001:db8:1:2:3:4:5:6]:1000", "second", "2001:db8:1:2::/64")
	f(closed, "192.0.2.1:1000", "first", hashOf("first"))
	f(closed, "192.0.2.2:1000", "second", hashOf("second"))
}
