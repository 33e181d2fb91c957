package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"laconic/config"
	"laconic/number"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
	"laconic/proxy/why"
)

func checkStream(ctx context.Context, p *patient) []finding {
	if !p.probe {
		return []finding{{State: why.Unknown, Says: "whether streams are held back: --probe makes one small call"}}
	}
	u, model := p.probed()
	if model == "" {
		return []finding{{State: why.Warning, Says: "there is no model to probe", Fix: "name one: laconic doctor --probe --model NAME"}}
	}
	shown := config.ShownURL(u.url.String())
	ctx, stop := context.WithTimeout(ctx, p.patience)
	defer stop()
	began := time.Now()
	res, err := stream(ctx, u, model)
	var t streamTimes
	if err == nil {
		defer func() { _ = res.Body.Close() }()
		t = timesOf(res.Body, func() time.Duration { return time.Since(began) })
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return []finding{{
			State: why.Failure, Says: fmt.Sprintf("%s takes the probe of %s, and its answer did not end in %v", shown, model, p.patience),
			Fix: "look whether the model is still being loaded or the server hangs; wait longer with --timeout 5m, or choose another model with --model NAME",
		}}
	case err != nil:
		return []finding{{State: why.Failure, Says: fmt.Sprintf("the probe failed (%s)", apierror.Reason(err)), Fix: "look at the log of the upstream"}}
	case res.StatusCode != http.StatusOK:
		return []finding{{State: why.Failure, Says: fmt.Sprintf("%s answered the probe of %s with %d", shown, model, res.StatusCode), Fix: "choose another model (--model NAME), or look at the log of the upstream"}}
	}
	return []finding{t.judged()}
}

// probed returns the upstream and the model of a probe; "" for the model if none is
// known.
func (p *patient) probed() (u upstream, model string) {
	model = cmp.Or(p.model, firstNamed(p.Config))
	for _, u = range p.seen {
		if model == "" && len(u.Models) > 0 {
			model = u.Models[0]
		}
		if model != "" && p.options.RouteFor(model).Upstream.String() == u.url.String() {
			return u, model
		}
	}
	return u, ""
}

// stream asks a model for a short stream, by the first API that the upstream has.
func stream(ctx context.Context, u upstream, model string) (res *http.Response, err error) {
	said := []map[string]string{{"role": "user", "content": "Count from 1 to 40, with a comma between the numbers and nothing else."}}
	for _, api := range []struct{ endpoint, list, most string }{
		{access.ChatCompletions, "messages", ""}, {"/responses", "input", ""}, {access.Messages, "messages", "max_tokens"},
	} {
		fields := map[string]any{"model": model, "stream": true, api.list: said}
		if api.most != "" {
			fields[api.most] = 200
		}
		body := bytes.NewReader(must(json.Marshal(fields)))
		r := must(http.NewRequestWithContext(ctx, http.MethodPost, u.url.JoinPath(api.endpoint).String(), body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		access.SetCredential(r.Header, access.Secret(u.key), false, api.endpoint)
		if res != nil {
			_ = res.Body.Close()
		}
		res, err = (&http.Transport{Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true}).RoundTrip(r)
		if err != nil || !apierror.NoPath(res) {
			return res, err
		}
	}
	return res, nil
}

// streamTimes is when the events of a stream came, from the request on.
type streamTimes struct {
	events      int
	first, last time.Duration
	together    int           // events that came within a millisecond of the one before
	pause       time.Duration // the longest between two events
}

// timesOf reads a stream to its end; now is the time since the request.
func timesOf(body io.Reader, now func() time.Duration) (t streamTimes) {
	for lines := bufio.NewScanner(body); lines.Scan(); {
		if !bytes.HasPrefix(lines.Bytes(), []byte("data:")) {
			continue
		}
		at := now()
		if t.events++; t.events == 1 {
			t.first, t.last = at, at
			continue
		}
		t.pause = max(t.pause, at-t.last)
		if at-t.last < time.Millisecond {
			t.together++
		}
		t.last = at
	}
	return t
}

// judged says whether a stream was held back: then it comes all at once, after the time
// that a model takes for it, or in pieces that filled somebody's buffer (an nginx that
// buffers sends 4 or 8 KB at a time), with pauses that no model makes.
func (t streamTimes) judged() finding {
	took := t.last - t.first
	words := fmt.Sprintf("%s, the first after %v, the last %v later", number.Count(t.events, "event"), t.first.Round(time.Millisecond), took.Round(time.Millisecond))
	switch {
	case t.events < 5:
		return finding{State: why.Unknown, Says: "the answer is too short to tell whether streams are held back (" + words + ")"}
	case t.first > 200*time.Millisecond && took < t.first/20:
	case t.pause >= 100*time.Millisecond && t.together >= t.events*3/4:
		words += fmt.Sprintf(", %d of them together with the one before", t.together)
	default:
		return finding{State: why.Fine, Says: "streams arrive as they are made (" + words + ")"}
	}
	return finding{
		State: why.Warning, Says: "something holds streams back: " + words,
		Fix: "switch buffering off in what stands before the model (nginx: proxy_buffering off; Apache: flushpackets=on; no compression of text/event-stream)",
	}
}
