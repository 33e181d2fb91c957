package metrics

import "github.com/prometheus/client_golang/prometheus"

// stateOf collects what a proxy and the log hold at the moment of the question.
type stateOf struct{ m *Metrics }

// Describe names nothing: what there is is not known before Watch.
func (stateOf) Describe(chan<- *prometheus.Desc) {}

// Collect reads the state once. The proxy has none before Watch.
func (s stateOf) Collect(to chan<- prometheus.Metric) {
	to <- prometheus.MustNewConstMetric(s.m.logLines, prometheus.CounterValue, float64(s.m.droppedLines()))
	p := s.m.proxy.Load()
	if p == nil {
		return
	}
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	total := func(d *prometheus.Desc, n uint64, label string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, float64(n), label)
	}
	t, now := &s.m.table, p.State()
	if ask := s.m.store.Load(); ask != nil {
		if shared := (*ask)(); shared.Operations != nil {
			gauge(t.storeUp, oneIf(!shared.Silent))
			for name, refuses := range shared.Refuses {
				gauge(t.storeRefuses, oneIf(refuses), name)
			}
			for name, n := range shared.Operations {
				total(t.storeOperations, n, name)
				total(t.storeFailed, shared.Failed[name], name)
			}
		}
	}
	gauge(t.serving, float64(now.Serving))
	gauge(t.summarizing, float64(now.Summarizing))
	for fact, n := range now.Learnt {
		gauge(t.learnt, float64(n), fact)
	}
	gauge(t.memory, float64(now.Memory.Bytes))
	gauge(t.memoryMost, float64(now.Memory.Limit))
	gauge(t.arriving, float64(now.Memory.Arriving))
	gauge(t.waiting, float64(now.Memory.WaitToArrive), "arrival")
	gauge(t.waiting, float64(now.Memory.ToWork), "work")
	for _, u := range now.Upstreams {
		gauge(t.upstreamUp, oneIf(!u.Down), u.Upstream)
		gauge(t.upstreamFailures, float64(u.Failures), u.Upstream)
		gauge(t.upstreamAnswered, seconds(u.Answered), u.Upstream)
		gauge(t.upstreamFailed, seconds(u.Failed), u.Upstream)
	}
}

func oneIf(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}
