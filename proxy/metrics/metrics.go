// Package metrics counts what a proxy reports to its [proxy.Listener], and serves
// the counts to Prometheus.
//
// It promises:
//
//   - private: no label and no value holds content, a credential, a model's name, a
//     tag, or anything else that a client wrote.
//   - bounded: labels are rows of the configuration, policies, and words of the
//     proxy's own. However many requests come, the number of series has a limit.
//   - apart: the registry is its own, and nothing registers itself.
//   - described: every metric is a row of one table, from which docs/metrics.md is
//     made.
package metrics

import (
	"cmp"
	"net/http"
	"runtime"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"laconic/proxy"
	"laconic/proxy/operate"
	"laconic/proxy/wire"
	"laconic/store"
)

// Metrics are the counts of one process. Make them with New. They are safe for
// concurrent use.
type Metrics struct {
	table
	registry     *prometheus.Registry
	droppedLines func() int
	proxy        atomic.Pointer[proxy.Proxy] // whose state is shown; nil: none
	store        atomic.Pointer[func() store.State]
}

// New makes metrics of a version and a revision of the program that have counted nothing.
// started is when the configuration was read for the first time, dropped returns how many
// lines of the log were dropped.
func New(version, revision string, started time.Time, dropped func() int) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), droppedLines: dropped}
	m.table = newTable(m.registry)
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m.registry.MustRegister(m)
	m.build.WithLabelValues(version, revision, runtime.Version()).Set(1)
	m.Reloaded(true, started)
	m.begin()
	return m
}

// Handler returns the page that Prometheus reads.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Watch shows the state of a proxy from now on, and the options that it was made
// with as the configuration in force.
func (m *Metrics) Watch(p *proxy.Proxy, o *proxy.Options) {
	m.proxy.Store(p)
	m.config.Reset()
	m.config.WithLabelValues(
		onOff[o.Overrides], onOff[o.ResponseHeaders], onOff[o.Strict], onOff[o.RejectFaults], onOff[len(o.ClientKeys) > 0],
		onOff[o.Summarizer != nil], onOff[o.Facts != nil], onOff[o.Certificate != nil],
	).Set(1)
	for _, k := range o.ClientKeys {
		for _, result := range []string{clientOK, clientLimited, clientError} {
			m.clients.WithLabelValues(k.Name, result)
		}
	}
	m.routes.Reset()
	for _, r := range append([]*proxy.Route{&o.Default}, o.Routes...) {
		m.routes.WithLabelValues(routeLabel(r.Match), operate.Origin(r.Upstream), r.Policy.Name, cmp.Or(r.Mode, proxy.ModeOn)).Set(1)
		for _, o := range []proxy.Outcome{
			proxy.Untouched, proxy.Repaired, proxy.Compacted, proxy.Retried, proxy.Refused, proxy.Over, proxy.Shadow, proxy.Rejected,
		} {
			for _, v := range []*prometheus.CounterVec{m.before, m.after, m.sent, m.floor, m.budget, m.prompt, m.cached, m.completion} {
				v.WithLabelValues(routeLabel(r.Match), string(o))
			}
			for _, w := range wire.All {
				m.requests.WithLabelValues(routeLabel(r.Match), string(o), "200", w.Name())
			}
		}
		for _, v := range []*prometheus.HistogramVec{m.duration, m.firstByte, m.overhead} {
			v.WithLabelValues(routeLabel(r.Match))
		}
		m.epochs.WithLabelValues(r.Policy.Name)
	}
}

// Sums returns the sums of what was counted until now: of a metric's samples of one
// outcome, or of all ("").
func (m *Metrics) Sums() func(metric, outcome string) float64 {
	families, _ := m.registry.Gather() // what failed is missing
	all := map[[2]string]float64{}
	for _, f := range families {
		for _, s := range f.GetMetric() {
			n := s.GetCounter().GetValue() + s.GetGauge().GetValue()
			all[[2]string{f.GetName(), ""}] += n
			for _, l := range s.GetLabel() {
				if l.GetName() == "outcome" {
					all[[2]string{f.GetName(), l.GetValue()}] += n
				}
			}
		}
	}
	return func(metric, outcome string) float64 { return all[[2]string{metric, outcome}] }
}

// WatchStore shows how a store is from now on. One that no other process can share has
// no Operations, and is not shown.
func (m *Metrics) WatchStore(state func() store.State) { m.store.Store(&state) }

// Reloaded notes that the configuration was read again: whether it was taken, and
// when.
func (m *Metrics) Reloaded(ok bool, at time.Time) {
	m.reloadOK.Set(oneIf[ok])
	if ok {
		m.reloadTime.Set(seconds(at))
	}
}

// seconds returns a time as Prometheus writes it; 0 for the zero time.
func seconds(t time.Time) float64 {
	if t.IsZero() {
		return 0
	}
	return float64(t.UnixMilli()) / 1000
}

// onOff is a setting as a label.
var onOff = map[bool]string{true: "on", false: "off"}

// The routes of requests that no row of the configuration matched, and of those
// that were refused before there was a route. No pattern looks like them.
const (
	defaultRoute = "(default)"
	noRoute      = "(none)"
)

func routeLabel(match string) string { return cmp.Or(match, defaultRoute) }

// routeOf returns the route of a request.
func routeOf(i *proxy.ReplyInfo) string {
	if i.Rewrite == nil && i.Passed == "" {
		return noRoute
	}
	return routeLabel(i.Route)
}

// statusLabel returns a status that has a name as its number, any other as its
// class: upstreams may answer anything.
func statusLabel(code int) string {
	switch {
	case http.StatusText(code) != "", code == proxy.StatusClientLeft, code == 529: // Anthropic's 503
		return strconv.Itoa(code)
	case code >= 100 && code < 600:
		return strconv.Itoa(code/100) + "xx"
	}
	return other
}

// other stands for all values beyond the bound of a label.
const other = "other"
