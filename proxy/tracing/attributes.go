package tracing

import (
	"cmp"
	"net/url"
	"strconv"
	"strings"

	"go.opentelemetry.io/otel/attribute"

	"laconic/proxy"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
)

// operations are the endpoints that have a name in the GenAI conventions, and whose
// API each is: OpenAI has several for one operation.
var operations = map[string]struct{ name, provider, api string }{
	access.ChatCompletions: {"chat", "openai", "chat_completions"},
	"/responses":           {"chat", "openai", "responses"},
	access.Messages:        {"chat", "anthropic", ""},
	"/completions":         {"text_completion", "openai", ""},
	"/embeddings":          {"embeddings", "openai", ""},
}

// mostValue bounds what a client or an upstream wrote.
const mostValue = 256

// anyMethod names a span whose method the proxy does not know, and every one until its end.
const anyMethod = "HTTP"

// nameOf returns the name of a request's span: "chat gpt-5".
func nameOf(i *proxy.ReplyInfo) string {
	name, of := operations[i.Endpoint].name, ""
	switch {
	case name == "":
		name, of = cmp.Or(i.Method, anyMethod), i.Endpoint
	case i.Rewrite != nil:
		of = apierror.Clip(i.Rewrite.Model, mostValue)
	}
	return strings.TrimSuffix(name+" "+of, " ")
}

// errorType returns what went wrong in a word, "" if nothing did.
func errorType(i *proxy.ReplyInfo) string {
	if i.Code == "" && i.Status >= 400 {
		return strconv.Itoa(i.Status)
	}
	return i.Code
}

// attributes is a list of them.
type attributes []attribute.KeyValue

// text adds what is not empty.
func (a *attributes) text(key, value string) {
	if value != "" {
		*a = append(*a, attribute.String(key, apierror.Clip(value, mostValue)))
	}
}

func (a *attributes) number(key string, n int) { *a = append(*a, attribute.Int(key, n)) }

func (a *attributes) yes(key string, is bool) { *a = append(*a, attribute.Bool(key, is)) }

// attributesOf returns the attributes of a request's span.
func attributesOf(i *proxy.ReplyInfo) []attribute.KeyValue {
	a := make(attributes, 0, 32)
	op := operations[i.Endpoint]
	a.text("gen_ai.operation.name", op.name)
	a.text("gen_ai.provider.name", op.provider)
	a.text("openai.api.type", op.api)
	a.text("gen_ai.response.model", i.AnsweredBy)
	if u := i.Usage; u != nil {
		a.number("gen_ai.usage.input_tokens", u.Prompt)
		a.number("gen_ai.usage.output_tokens", u.Completion)
		a.number("gen_ai.usage.cache_read.input_tokens", u.Cached)
	}
	a.text("http.request.method", i.Method)
	if i.Status != 0 && i.Status != proxy.StatusClientLeft {
		a.number("http.response.status_code", i.Status)
	}
	a.text("error.type", errorType(i))
	a.text("laconic.request.id", i.ID)
	a.text("laconic.outcome", string(i.Outcome))
	a.text("laconic.ended", i.Ended)
	if i.Rewrite != nil {
		a.measured(i.Rewrite)
	}
	a.text("laconic.route", i.Route)
	a.text("laconic.pass.reason", i.Passed)
	a.text("laconic.tags", i.Tags)
	if r := i.Retry; r != nil {
		a.text("laconic.refusal", r.Reason)
		a.yes("laconic.second_send", r.Sent)
		a.text("laconic.second_refusal", r.Then)
	}
	return a
}

// measured adds what was decided about a chat request.
func (a *attributes) measured(i *proxy.RewriteInfo) {
	r := &i.Report
	a.text("gen_ai.request.model", i.Model)
	a.yes("gen_ai.request.stream", i.Stream)
	a.yes("gen_ai.conversation.compacted", i.Outcome.Done() && (r.Epochs > 0 || len(r.Stages) > 0))
	a.text("laconic.policy", i.Policy)
	a.text("laconic.request.kind", i.Kind)
	a.number("laconic.tokens.before", r.Before)
	a.number("laconic.tokens.after", r.After)
	a.number("laconic.budget", r.Budget)
	a.number("laconic.epochs", r.Epochs)
	a.yes("laconic.epoch.new", i.NewEpoch)
	a.number("laconic.repairs", r.Repairs)
	if len(r.Stages) > 0 {
		names := make([]string, len(r.Stages))
		for n := range r.Stages {
			names[n] = r.Stages[n].Name
		}
		*a = append(*a, attribute.StringSlice("laconic.stages", names))
	}
	if i.Summary != nil {
		a.text("laconic.summary", i.Summary.Outcome)
	}
}

// destination says where a request goes.
func destination(u *url.URL) (a attributes) {
	a.text("server.address", u.Hostname())
	port, _ := strconv.Atoi(access.Port(u))
	a.number("server.port", port)
	return a
}
