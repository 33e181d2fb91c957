package metrics

import "github.com/prometheus/client_golang/prometheus"

// Describe describes nothing: what there is is not known before Watch.
func (m *Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect reads once what a proxy and the log hold at the moment of the question. The
// proxy has no state before Watch.
func (m *Metrics) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(m.logLines, prometheus.CounterValue, float64(m.droppedLines()))
	p := m.proxy.Load()
	if p == nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	total := func(d *prometheus.Desc, n uint64, label string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), label)
	}
	now := p.State()
	if ask := m.store.Load(); ask != nil {
		if shared := (*ask)(); shared.Operations != nil {
			gauge(m.storeUp, oneIf[!shared.Silent])
			for name, refuses := range shared.Refuses {
				gauge(m.storeRefuses, oneIf[refuses], name)
			}
			for name, n := range shared.Operations {
				total(m.storeOperations, n, name)
				total(m.storeFailed, shared.Failed[name], name)
			}
		}
	}
	gauge(m.serving, float64(now.Serving))
	gauge(m.summarizing, float64(now.Summarizing))
	for fact, n := range now.Learnt {
		gauge(m.learnt, float64(n), fact)
	}
	gauge(m.memory, float64(now.Memory.Bytes))
	gauge(m.memoryMost, float64(now.Memory.Limit))
	gauge(m.arriving, float64(now.Memory.Arriving))
	gauge(m.waiting, float64(now.Memory.WaitToArrive), "arrival")
	gauge(m.waiting, float64(now.Memory.ToWork), "work")
	for _, u := range now.Upstreams {
		gauge(m.upstreamUp, oneIf[!u.Down], u.Upstream)
		gauge(m.upstreamFailures, float64(u.Failures), u.Upstream)
		gauge(m.upstreamAnswered, seconds(u.Answered), u.Upstream)
		gauge(m.upstreamFailed, seconds(u.Failed), u.Upstream)
	}
}

// oneIf is a yes as a number.
var oneIf = map[bool]float64{true: 1}
