package cli

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"laconic/config"
	"laconic/proxy/access"
	"laconic/proxy/apierror"
)

// probeTime is how long the one call of a probe may take, unless --timeout says more: a
// local model may have to be loaded first.
const probeTime = 30 * time.Second

func checkStream(ctx context.Context, p *patient) []finding {
	if !p.probe {
		return []finding{{State: unknown, Says: "whether streams are held back: --probe makes one small call"}}
	}
	u, model := p.probed(ctx)
	if model == "" {
		return []finding{{State: warning, Says: "there is no model to probe", Fix: "name one: laconic doctor --probe --model NAME"}}
	}
	ctx, stop := context.WithTimeout(ctx, p.patience)
	defer stop()
	body, err := json.Marshal(map[string]any{
		"model": model, "stream": true,
		"messages": []map[string]string{{"role": "user", "content": "Count from 1 to 40, with a comma between the numbers and nothing else."}},
	})
	var r *http.Request
	if err == nil {
		r, err = http.NewRequestWithContext(ctx, http.MethodPost, u.url.JoinPath("chat/completions").String(), bytes.NewReader(body))
	}
	if err != nil {
		return []finding{{State: failure, Says: err.Error(), Fix: "correct " + u.place}}
	}
	r.Header.Set("Content-Type", "application/json")
	if u.key != "" {
		access.SetCredential(r.Header, access.Secret(u.key), false, access.ChatCompletions)
	}
	began := time.Now()
	res, err := p.client.Do(r)
	if err != nil && ctx.Err() != nil {
		return []finding{p.silent(ctx, u, model)}
	}
	if err != nil {
		return []finding{{State: failure, Says: fmt.Sprintf("the probe failed (%s)", apierror.Reason(err)), Fix: "look at the log of the upstream"}}
	}
	defer func() { _ = res.Body.Close() }()
	if res.StatusCode != http.StatusOK {
		return []finding{{State: failure, Says: fmt.Sprintf("%s answered the probe of %s with %d", config.ShownURL(u.url.String()), model, res.StatusCode), Fix: "choose another model (--model NAME), or look at the log of the upstream"}}
	}
	t := timesOf(res.Body, func() time.Duration { return time.Since(began) })
	if ctx.Err() != nil {
		return []finding{p.silent(ctx, u, model)}
	}
	return []finding{t.judged()}
}

// silent says that the answer to a probe did not end while it was waited for.
func (p *patient) silent(ctx context.Context, u upstreamOf, model string) finding {
	if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		return finding{State: unknown, Says: "the probe was stopped before its answer ended"}
	}
	return finding{
		State: failure,
		Says:  fmt.Sprintf("%s takes the probe of %s, and its answer did not end in %v", config.ShownURL(u.url.String()), model, p.patience),
		Fix:   "look whether the model is still being loaded or the server hangs; wait longer with --timeout 5m, or choose another model with --model NAME",
	}
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
			t.first = at
		} else {
			gap := at - t.last
			t.pause = max(t.pause, gap)
			if gap < time.Millisecond {
				t.together++
			}
		}
		t.last = at
	}
	return t
}

// fewEvents are too few to tell whether a stream is one.
const fewEvents = 5

// longPause is longer than a model pauses between two events that are sent as they are
// made.
const longPause = 100 * time.Millisecond

// judged says whether a stream was held back: then all of it comes at once, after the
// time that a model takes for it, or in pieces, each of which filled somebody's buffer
// (an nginx that buffers sends 4 or 8 KB at a time).
func (t streamTimes) judged() finding {
	words := fmt.Sprintf("%d events, the first after %v, the last %v later", t.events, t.first.Round(time.Millisecond), (t.last - t.first).Round(time.Millisecond))
	held := finding{
		State: warning, Says: "something holds streams back: " + words,
		Fix: "switch buffering off in what stands before the model (nginx: proxy_buffering off; Apache: flushpackets=on; no compression of text/event-stream)",
	}
	switch {
	case t.events < fewEvents:
		return finding{State: unknown, Says: "the answer is too short to tell whether streams are held back (" + words + ")"}
	case t.first > 200*time.Millisecond && t.last-t.first < t.first/20:
		return held
	case t.pause >= longPause && t.together >= t.events*3/4:
		held.Says += fmt.Sprintf(", %d of them together with the one before", t.together)
		return held
	}
	return finding{State: fine, Says: "streams arrive as they are made (" + words + ")"}
}
