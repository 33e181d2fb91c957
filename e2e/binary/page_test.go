package binary

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"laconic/e2e/rig"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	cdpage "github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"laconic/demo"
	"laconic/demo/strict"
	"laconic/store/storetest"
)

// browser is a real one, with what it complained of.
type browser struct {
	t   *testing.T
	ctx context.Context
	// wrong are errors of scripts, messages of the console, and dialogs.
	wrong chan string
}

// openBrowser starts Chromium. One that crashes as it starts, as it may on a machine
// that is busy, is started again.
func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := rig.Installed(t, "chromium", "chromium")
	var err error
	for range 3 {
		b := &browser{t: t, wrong: make(chan string, 100)}
		o := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
			chromedp.Flag("force-color-profile", "srgb"), chromedp.WindowSize(1280, 900))
		alloc, stopAlloc := chromedp.NewExecAllocator(context.Background(), o...)
		ctx, stop := chromedp.NewContext(alloc)
		ctx, stopTime := context.WithTimeout(ctx, 4*rig.Patience)
		t.Cleanup(func() { _ = chromedp.Cancel(ctx); stopTime(); stop(); stopAlloc() })
		b.ctx = ctx
		chromedp.ListenTarget(ctx, b.listen)
		if err = chromedp.Run(ctx, log.Enable()); err == nil {
			return b
		}
		t.Logf("Chromium did not start: %v", err)
	}
	t.Fatal(err)
	return nil
}

// listen notes an event that is a complaint.
func (b *browser) listen(event any) {
	switch e := event.(type) {
	case *runtime.EventExceptionThrown:
		b.wrong <- "exception: " + e.ExceptionDetails.Error()
	case *log.EventEntryAdded:
		b.wrong <- "console: " + e.Entry.Text + " " + e.Entry.URL
	case *cdpage.EventJavascriptDialogOpening:
		b.wrong <- "dialog: " + e.Message
	}
}

func (b *browser) do(all ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, all...); err != nil {
		b.t.Fatal(err)
	}
}

// open goes to an address.
func (b *browser) open(url string) { b.t.Helper(); b.do(chromedp.Navigate(url)) }

// sees waits until an expression of JavaScript is true.
func (b *browser) sees(expression string) {
	b.t.Helper()
	var text string
	if !rig.Soon(func() (yes bool) {
		// It fails while the browser is on its way to another page.
		return chromedp.Run(b.ctx, chromedp.Evaluate("Boolean("+expression+")", &yes)) == nil && yes
	}) {
		_ = chromedp.Run(b.ctx, chromedp.Evaluate(`document.body.innerText`, &text))
		b.t.Fatalf("never true: %s\n%.3000s", expression, text)
	}
}

// says waits until the page has a text.
func (b *browser) says(text string) {
	b.t.Helper()
	b.sees(fmt.Sprintf("document.body.innerText.includes(%q)", text))
}

// shoot writes a picture of the page into the folder that LACONIC_SHOTS names.
func (b *browser) shoot(name string, width, height int64, dark bool) {
	b.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	b.do(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.EmulateViewport(width, height))
	// Nothing is wider than the window, and no column is out of sight.
	b.sees(`document.documentElement.scrollWidth <= innerWidth && [...document.querySelectorAll(".scroll")].every((e) => e.scrollWidth <= e.clientWidth)`)
	if dir := os.Getenv("LACONIC_SHOTS"); dir != "" {
		var png []byte
		b.do(chromedp.CaptureScreenshot(&png))
		rig.WriteFile(b.t, filepath.Join(dir, name+".png"), string(png))
	}
}

// shoots takes it by day and by night, and on a narrow screen.
func (b *browser) shoots(name string, height int64) {
	b.shoot(name, 1280, height, false)
	b.shoot(name+"-dark", 1280, height, true)
	b.shoot(name+"-narrow", 360, 740, false)
	b.do(chromedp.EmulateViewport(1280, 900))
}

// click presses the button with a text.
func (b *browser) click(text string) {
	b.t.Helper()
	button := fmt.Sprintf(`[...document.querySelectorAll("button")].find((e) => e.textContent === %q)`, text)
	b.sees(button)
	b.do(chromedp.Evaluate(button+".click()", nil))
}

// nothingWrong fails the test if the browser complained.
func (b *browser) nothingWrong() {
	b.t.Helper()
	for {
		select {
		case text := <-b.wrong:
			b.t.Error(text)
		default:
			return
		}
	}
}

const pageConfig = `
capture: {size: 16MiB}
models:
  - match: "*"
    budget: 16000
    tokenizer: bytes/3.5
`

// TestThePage: what a person with a browser sees of a real conversation.
func TestThePage(t *testing.T) {
	b := openBrowser(t)
	u := strict.New(strict.Options{Limit: demo.Limit})
	upstream := httptest.NewServer(u)
	defer upstream.Close()
	p := rig.Start(t, upstream.URL+"/v1", pageConfig, "--admin", "127.0.0.1:0")

	b.open(p.Admin)
	b.says("No request came yet")
	if err := demo.Run(context.Background(), demo.Options{Proxy: p.URL + "/v1", Upstream: u, Out: io.Discard, Fast: true, Budget: 16000}); err != nil {
		t.Fatal(err)
	}
	// It came by itself, as one conversation.
	b.sees(`document.querySelectorAll(".course").length >= 1 && document.querySelectorAll("tr.row").length > 20`)
	b.sees(`document.querySelectorAll("svg .epoch").length >= 3`)
	b.shoots("live", 900)

	// The keyboard: down to the newest request, Enter opens it, Escape goes up.
	b.do(chromedp.Evaluate(`document.querySelector("tr.row a").focus()`, nil), chromedp.KeyEvent("\r"))
	b.says("Message by message")
	b.says("The record of what left")
	b.says("Tokens saved")
	b.sees(`document.querySelectorAll("svg .m-record").length > 0`)
	b.sees(`[...document.querySelectorAll("tr.fold td:nth-child(7)")].some((td) => Number(td.textContent) > 0)`)
	b.sees(`[...document.querySelectorAll("tr.state-left")].some((r) => r.innerText.includes("summarize"))`)
	// Runs that are one line have the calls of all, and the stages add up.
	b.sees(`[...document.querySelectorAll("tr.fold")].some((r) => Number(r.children[6].innerText) > 0)`)
	b.sees(`(() => {
		const n = (t) => Number(t.replace(/[^0-9−-]/g, "").replace("−", "-"));
		const of = (name) => n([...document.querySelectorAll(".numbers div")].find((d) => d.firstChild.innerText === name).lastChild.firstChild.data);
		const rows = [...document.querySelectorAll("table[aria-label=Stages] tbody tr")].map((r) => n(r.lastChild.innerText));
		const sum = rows.pop();
		return sum === of("Came") - of("Sent") && sum === rows.reduce((a, b) => a + b, 0);
	})()`)
	b.shoots("request", 1100)
	b.click("Show the texts")
	b.says("Download for laconic replay")
	b.do(chromedp.Evaluate(`document.querySelectorAll("td [aria-expanded=false]:not(.fold *)").forEach((e) => e.click())`, nil))
	b.sees(`document.querySelectorAll(".sides pre").length > 3 && document.querySelector("main").innerText.includes("As the upstream receives it")`)
	b.sees(`[...document.querySelectorAll("tr.state-added + tr.both")].some((e) => e.innerText.includes("[Record of "))`)
	b.do(chromedp.Evaluate(`document.querySelector("table[aria-label=Messages]").scrollIntoView()`, nil))
	b.shoots("texts", 1100)
	b.do(chromedp.Evaluate(`document.querySelector("tr.fold button").focus()`, nil))
	b.do(chromedp.Evaluate(`document.querySelector("tr.fold button").click()`, nil))
	b.do(chromedp.KeyEvent("\x1b"))
	b.sees(`location.hash.startsWith("#/conversation/")`)
	b.says("Its requests, newest first")
	b.shoots("conversation", 900)
	b.do(chromedp.KeyEvent("\x1b"))
	b.sees(`location.hash === "#/"`)

	b.open(p.Admin + "/page/#/savings")
	b.says("Sent anew")
	b.shoots("savings", 900)
	b.open(p.Admin + "/page/#/upstreams")
	b.says("up")
	b.shoots("upstreams", 900)
	b.open(p.Admin + "/page/#/configuration")
	b.says("response_header_timeout: 15m")
	b.shoot("configuration", 1280, 900, true)
	b.nothingWrong()
}

// TestThePageSaysWhatIsWrong draws docs/images/page.png, as wrong.png of LACONIC_SHOTS: an upstream that is down, one that
// refuses, requests above the budget, and a row in shadow mode.
func TestThePageSaysWhatIsWrong(t *testing.T) {
	b := openBrowser(t)
	upstream := httptest.NewServer(strict.New(strict.Options{Limit: -1}))
	defer upstream.Close()
	refuses := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }))
	defer refuses.Close()
	t.Setenv("ALICE", "a-client-key-of-the-test")
	t.Setenv("BUILD_SERVER", "b-client-key-of-the-test")
	p := rig.Start(t, upstream.URL+"/v1", `
client_keys: ["${ALICE}", "${BUILD_SERVER}"]
models:
  - {match: gone, api_key: of-the-test, upstream: "http://127.0.0.1:1/v1", budget: 9000}
  - {match: broken, api_key: of-the-test, upstream: "`+refuses.URL+`/v1", budget: 9000}
  - {match: tight, api_key: of-the-test, budget: 900}
  - {match: shady, api_key: of-the-test, budget: 9000, mode: shadow}
  - {match: "*", api_key: of-the-test, budget: 9000}
`, "--admin", "127.0.0.1:0")
	c := rig.Chats(t, func(_ int, id string) bool { return id == "demo" })[0]
	for i, k := range c.Points()[:28] {
		for j, model := range []string{"gpt-4o", "shady", "gone", "broken", "tight"} {
			if j < 2 || i < 4 {
				c.Model = model
				body := bytes.ReplaceAll(c.Body(c.Messages[:k], ","), []byte("OPS-4127"), fmt.Append(nil, "OPS-", 4127+j))
				rig.Post(t, p.URL+"/v1/chat/completions", body, "Authorization", "Bearer "+string("ab"[j%2])+"-client-key-of-the-test")
			}
		}
	}
	b.open(p.Admin)
	for _, text := range []string{"http://127.0.0.1:1 is down", "4 requests failed", "4 requests went out above the budget", "BUILD_SERVER"} {
		b.says(text)
	}
	b.shoot("wrong", 1280, 1150, false)
	b.shoot("wrong-dark", 1280, 1150, true)
	for _, width := range []int64{360, 400} {
		b.shoot(fmt.Sprint("wrong-", width), width, 1100, false)
		b.shoot(fmt.Sprint("wrong-", width, "-dark"), width, 1100, true)
	}
	// Of a request that reached no upstream nothing is said to have gone out.
	b.do(chromedp.Evaluate(`location.hash = "#/?model=gone"`, nil))
	b.sees(`document.querySelectorAll("tr.row").length === 4`)
	b.do(chromedp.Evaluate(`document.querySelector("tr.row a").focus()`, nil), chromedp.KeyEvent("\r"))
	b.says("The provider's cache would end at the first change.")
	b.do(chromedp.Evaluate(`[...document.querySelectorAll("a")].find((e) => e.textContent === "the request before").click()`, nil))
	b.says("What was sent before would be sent again as it was")
	b.says("Nothing was to be done.")
	b.nothingWrong()
}

// TestThePageTakesNothingForMarkup: what a client names does nothing.
func TestThePageTakesNothingForMarkup(t *testing.T) {
	b := openBrowser(t)
	upstream := httptest.NewServer(strict.New(strict.Options{Limit: -1}))
	defer upstream.Close()
	p := rig.Start(t, upstream.URL+"/v1", "capture: {size: 1MiB}\nmodels: [{match: \"*\", budget: 300}]", "--admin", "127.0.0.1:0")
	const evil = `<img src=x onerror=alert(1)>`
	var msgs []string
	msgs = append(msgs, `{"role":"user","content":"`+evil+`"}`)
	for n := range 12 {
		msgs = append(msgs, fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":"%s%d","type":"function","function":{"name":"%s","arguments":"{\"path\":\"%s\"}"}}]}`, evil, n, evil, evil),
			fmt.Sprintf(`{"role":"tool","tool_call_id":"%s%d","content":"%s"}`, evil, n, strings.Repeat(evil, 30)))
	}
	_, h, _ := rig.Post(t, p.URL+"/v1/chat/completions", []byte(`{"model":"`+evil+`","messages":[`+strings.Join(msgs, ",")+`]}`), "X-Laconic-Tags", evil)
	id := h.Get("X-Laconic-Request-Id")
	for _, place := range []string{"", "#/conversation/1", "#/request/" + id, "#/savings", "#/upstreams", "#/configuration"} {
		b.open("about:blank")
		b.open(p.Admin + "/page/" + place)
		b.sees(`document.querySelector("h1") && !document.body.innerText.includes("…\n") && document.getElementById("live").textContent === "live"`)
		if place == "" || strings.HasPrefix(place, "#/request") {
			b.says(evil)
		}
		if strings.HasPrefix(place, "#/request") { // with all texts, as they came and as they were sent
			b.click("Show the texts")
			b.says("Download for laconic replay")
			b.do(chromedp.Evaluate(`document.querySelectorAll("tr.fold button").forEach((e) => e.click())`, nil))
			b.do(chromedp.Evaluate(`document.querySelectorAll("td [aria-expanded=false]").forEach((e) => e.click())`, nil))
			for _, text := range []string{evil + evil, "{\n \"path\": \"" + evil + "\"\n}"} {
				b.sees(fmt.Sprintf(`[...document.querySelectorAll(".sides pre.text")].some((e) => e.textContent.includes(%q))`, text))
			}
		}
		b.sees(`document.querySelectorAll("img").length === 0`)
	}
	b.nothingWrong()

	// laconic replay reads what is downloaded.
	_, text := rig.Get(p.Admin + "/page/api/texts/" + id + ".jsonl")
	file := filepath.Join(t.TempDir(), "request.jsonl")
	rig.WriteFile(t, file, text)
	if out, err := exec.Command(rig.Command(t), "replay", file, "--budget", "300").CombinedOutput(); err != nil || !strings.Contains(string(out), "1 conversation") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestTheReport: the page that a replay writes draws its conversation by itself, as the
// page of the proxy does, and takes nothing of it for markup.
func TestTheReport(t *testing.T) {
	b := openBrowser(t)
	const evil = `<img src=x onerror=alert(1)>`
	recorded := rig.ReadFile(t, "../../demo/conversation.json")
	dir := t.TempDir()
	file, page := filepath.Join(dir, "recorded.json"), filepath.Join(dir, "report.html")
	rig.WriteFile(t, file, strings.ReplaceAll(string(recorded), "Ticket OPS-4127", evil))
	if out, err := exec.Command(rig.Command(t), "replay", file, "--budget", "16000", "--policy", "adaptive,window", "--html", page).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	b.open("file://" + page)
	b.says("One conversation, before and after")
	b.says(evil)
	b.says("go out as the client sent them")
	b.sees(`document.querySelectorAll("svg .epoch").length >= 3 && document.querySelectorAll("svg .level").length === 2`)
	// The first request that changed something is open, its record beside what it stands for.
	b.sees(`document.querySelectorAll("details.request[open]").length === 1 && document.querySelector("details[open] table[aria-label=Stages]")`)
	b.sees(`[...document.querySelectorAll("tr.state-added + tr.both")].some((e) => e.innerText.includes("[Record of "))`)
	b.sees(`document.querySelectorAll("img").length === 0`)
	b.shoot("report", 1280, 1800, false)
	b.shoot("report-dark", 1280, 1800, true)
	b.shoot("report-narrow", 400, 1800, false)
	// A step of the drawing opens its request.
	b.do(chromedp.Evaluate(`document.querySelectorAll("svg .hit")[20].dispatchEvent(new MouseEvent("click"))`, nil))
	b.sees(`document.getElementById("r21").open && document.querySelectorAll("#r21 tr").length > 10`)
	b.nothingWrong()
}

// TestAStoreThatIsAwayIsShown on the page, without a reload, in /readyz?verbose and in
// the metrics; and so is its return. The process stays ready.
func TestAStoreThatIsAwayIsShown(t *testing.T) {
	b := openBrowser(t)
	redis := storetest.StartRedis(t)
	p := rig.Start(t, "http://127.0.0.1:1/v1", "store: {kind: redis, url: \""+redis.URL()+"\", secret: a secret for this test}", "--admin", "127.0.0.1:0")
	get := func(path string) string { _, text := rig.Get(p.Admin + path); return text }
	rig.Eventually(t, "it is ready", func() bool { return get("/readyz") == "ready\n" })
	const fault = "the store does not answer: no connection"
	is := func(up, says string) {
		t.Helper()
		rig.Eventually(t, "the line of /readyz?verbose", func() bool { return strings.Contains(get("/readyz?verbose"), "\nstore: "+says+" ("+redis.URL()) })
		if text := get("/readyz"); text != "ready\n" {
			t.Errorf("with a store of which it says %q it is %s", says, text)
		}
		if text := get("/metrics"); !strings.Contains(text, "\nlaconic_store_up "+up+"\n") {
			t.Errorf("the metric is not %s", up)
		}
	}
	b.open(p.Admin + "/page/")
	b.says("No request came yet")
	b.sees(`document.getElementById("store").hidden`)
	is("1", "no fault")
	redis.Stop()
	is("0", fault)
	b.says(". Requests go on from memory.")
	b.shoot("store", 1280, 900, false)
	b.shoot("store-dark", 1280, 900, true)
	b.shoot("store-narrow", 360, 740, false)
	b.open("about:blank")
	b.open(p.Admin + "/page/#/upstreams")
	b.sees(`document.querySelector("p.bad").innerText.startsWith("store: the store does not answer")`)
	b.shoot("store-upstreams", 1280, 900, false)
	redis.Start(t)
	is("1", "no fault")
	b.sees(`document.getElementById("store").hidden`)
}

// TestThePageAsksForTheToken: a browser shows it once.
func TestThePageAsksForTheToken(t *testing.T) {
	b := openBrowser(t)
	upstream := httptest.NewServer(strict.New(strict.Options{Limit: -1}))
	defer upstream.Close()
	p := rig.Start(t, upstream.URL+"/v1", "admin_token: canary-of-16-letters", "--admin", "127.0.0.1:0")
	b.open(p.Admin + "/page/")
	b.says("Sign in")
	b.shoot("sign-in", 1280, 900, false)
	b.do(chromedp.SendKeys("#token", "another-of-16-letters\r"))
	b.says("That is not the token")
	b.nothingOf("403")
	b.do(chromedp.SendKeys("#token", "canary-of-16-letters\r"))
	b.says("No request came yet")
	b.sees(`document.cookie === ""`)
	b.do(chromedp.Click("#leave button"))
	b.sees(`document.querySelector("#token")`)
	b.open(p.Admin + "/page/")
	b.sees(`document.querySelector("#token")`)
	b.nothingWrong()
}

// nothingOf takes a complaint that is meant to be.
func (b *browser) nothingOf(text string) {
	b.t.Helper()
	for range len(b.wrong) {
		if said := <-b.wrong; !strings.Contains(said, text) {
			b.t.Error(said)
		}
	}
}

// TestThePageErases, for who has signed in, at the second click.
func TestThePageErases(t *testing.T) {
	b := openBrowser(t)
	upstream := httptest.NewServer(strict.New(strict.Options{Limit: -1}))
	defer upstream.Close()
	p := rig.Start(t, upstream.URL+"/v1",
		"admin_token: canary-of-16-letters\nclient_keys: [a-client-key-of-the-test]\nmodels: [{match: \"*\", api_key: upstream-key-of-the-test}]", "--admin", "127.0.0.1:0")
	rig.Post(t, p.URL+"/v1/chat/completions", []byte(`{"model":"m","messages":[{"role":"user","content":"hello"}]}`), "Authorization", "Bearer a-client-key-of-the-test")
	b.open(p.Admin + "/page/")
	b.do(chromedp.SendKeys("#token", "canary-of-16-letters\r"))
	b.says("client_keys[0]")
	b.open(p.Admin + "/page/#/conversation/1")
	b.do(chromedp.Click("#erase"))
	b.says("really erase")
	b.shoot("erase", 1280, 900, false)
	b.do(chromedp.Click("#erase"))
	b.says("0 stored summaries of client_keys[0] erased")
	b.nothingWrong()
}
