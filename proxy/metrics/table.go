package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
)

// Row is one metric, as the manual describes it.
type Row struct {
	Name   string
	Kind   string // counter, gauge or histogram
	Labels []string
	Unit   string
	Help   string
}

// table is all metrics of this package. Each is named and described in newTable,
// and nowhere else.
type table struct {
	Rows []Row // all, in the order of the manual

	requests, kinds, errors, passed                *prometheus.CounterVec
	clients, clientTokens                          *prometheus.CounterVec
	serviceCalls                                   *prometheus.HistogramVec
	duration, firstByte, overhead                  *prometheus.HistogramVec
	before, after, sent                            *prometheus.CounterVec
	floor, budget                                  *prometheus.CounterVec
	prompt, cached, completion                     *prometheus.CounterVec
	compactions, stageEdits, stageSaved            *prometheus.CounterVec
	epochs, breaks, repairs                        *prometheus.CounterVec
	dropped                                        prometheus.Counter
	refusals, truncated                            *prometheus.CounterVec
	cut                                            prometheus.Counter
	slots, summaries                               *prometheus.CounterVec
	summaryTime                                    prometheus.Observer
	summaryCalls, summaryTokens                    prometheus.Counter
	changes                                        *prometheus.CounterVec
	faults, peers                                  prometheus.Counter
	build, config, routes                          *prometheus.GaugeVec
	reloadOK, reloadTime                           prometheus.Gauge
	serving, arriving, waiting, memory, memoryMost *prometheus.Desc
	upstreamUp, upstreamFailures                   *prometheus.Desc
	upstreamAnswered, upstreamFailed               *prometheus.Desc
	learnt, summarizing, logLines                  *prometheus.Desc
	storeOperations, storeFailed                   *prometheus.Desc
	storeUp, storeRefuses                          *prometheus.Desc
}

// The units of the manual.
const (
	inRequests = "requests"
	inTokens   = "tokens"
	inSeconds  = "seconds"
	inBytes    = "bytes"
	inTime     = "Unix time in seconds"
	isInfo     = "always 1"
)

// Buckets, in seconds: of what the proxy itself takes, and of what models take.
var (
	overheadBuckets = []float64{50e-6, 100e-6, 250e-6, 500e-6, 1e-3, 2.5e-3, 5e-3, 10e-3, 25e-3, 50e-3, 100e-3, 250e-3, 500e-3, 1, 2.5, 10}
	modelBuckets    = []float64{0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640}
)

func newTable(r *prometheus.Registry) (t table) {
	t.requests = t.counter(r, "laconic_requests_total", inRequests,
		"Requests that are over, by the row of the configuration, what became of them, the status that the client got, and the API: chat, responses, messages, or none. A status that has no name counts as its class.",
		"route", "outcome", "status", "api")
	t.kinds = t.counter(r, "laconic_requests_by_kind_total", inRequests,
		"Requests by which an agent has its own history summarized, by what became of them and by the request_kind of the log. Those of the outcome over were too long, and went out as they came.", "outcome", "kind")
	t.errors = t.counter(r, "laconic_errors_total", inRequests,
		"Requests that went wrong, by the code that the log and our own answers carry. A client that left is client_left.", "code")
	t.passed = t.counter(r, "laconic_passed_total", inRequests,
		`Requests that were forwarded unread, by endpoint and reason: "route" for what is no chat request. Unknown endpoints are "other".`, "endpoint", "reason")
	t.duration = t.histogram(r, "laconic_request_duration_seconds",
		"Chat requests, from their headers to the end of the answer.", modelBuckets, "route")
	t.firstByte = t.histogram(r, "laconic_first_byte_seconds",
		"Chat requests that were answered, from their headers to the answer's first byte.", modelBuckets, "route")
	t.overhead = t.histogram(r, "laconic_overhead_seconds",
		"Chat requests that were measured: the time from the body's last byte to its sending, summaries that were waited for included.", overheadBuckets, "route")
	t.clients = t.counter(r, "laconic_client_requests_total", inRequests,
		"Requests that came with a client key, by the key's name and by what went wrong: ok, limited (429 by client_limits), or error.", "client", "result")
	t.clientTokens = t.counter(r, "laconic_client_tokens_total", inTokens,
		"Tokens by the usage of their answers: prompts (prompt) and answers (completion).", "client", "of")
	t.serviceCalls = t.histogram(r, "laconic_service_seconds",
		"Calls of POST /compact and /v1/compress, until their answer. passed: the messages came back as they came. (none): there was no body to compact.", overheadBuckets, "endpoint", "outcome")
	t.serving = t.read("gauge", "laconic_requests_serving", inRequests, "Requests that are not over.")

	t.before = t.counter(r, "laconic_tokens_before_total", inTokens,
		"Prompts of measured chat requests as they came, by our count. Requests that no upstream got count here and in the next four only if rejected.", "route", "outcome")
	t.after = t.counter(r, "laconic_tokens_after_total", inTokens,
		"The same prompts as they were planned, by our count: of the outcome shadow as they would have been sent, of rejected as they would have been too long.", "route", "outcome")
	t.sent = t.counter(r, "laconic_tokens_sent_total", inTokens,
		"The same prompts as they went to the upstream, by our count: both bodies of a second send, those of shadow as they came, none of what was rejected.", "route", "outcome")
	t.floor = t.counter(r, "laconic_tokens_floor_total", inTokens,
		"Tools, schemas and instructions of measured chat requests, by our count: they cannot be compacted.", "route", "outcome")
	t.budget = t.counter(r, "laconic_tokens_budget_total", inTokens,
		"The budgets of the same requests.", "route", "outcome")
	t.prompt = t.counter(r, "laconic_upstream_prompt_tokens_total", inTokens,
		"Prompts as the usage of their answers counts them. Answers without usage count nothing.", "route", "outcome")
	t.cached = t.counter(r, "laconic_upstream_cached_tokens_total", inTokens,
		"The part of these that the provider's prompt cache served, by the usage.", "route", "outcome")
	t.completion = t.counter(r, "laconic_upstream_completion_tokens_total", inTokens,
		"Answers as their usage counts them.", "route", "outcome")

	t.compactions = t.counter(r, "laconic_compactions_total", inRequests,
		"Requests that were sent compacted, by policy and by the stage that went furthest. Every request of a conversation that was once compacted is one.", "policy", "stage")
	t.stageEdits = t.counter(r, "laconic_stage_edits_total", "edits",
		"Edits that each stage made in requests that were sent compacted.", "policy", "stage")
	t.stageSaved = t.counter(r, "laconic_stage_saved_tokens_total", inTokens,
		"Tokens that each stage saved in them.", "policy", "stage")
	t.epochs = t.counter(r, "laconic_epochs_total", "epochs",
		"Epochs that began with a request which was sent: the history was compacted further. An epoch is counted again where a client sends the same request again.", "policy")
	t.breaks = t.counter(r, "laconic_prefix_breaks_total", inRequests,
		"Requests that cannot begin as the one before them did, so that the provider's cache ends early: an epoch began (epoch), or another body was sent after a refusal (retry).", "reason")
	t.repairs = t.counter(r, "laconic_repairs_total", "edits",
		"Repairs of tool pairs in requests that were made ready to be sent, by kind. A history is repaired in each request that has it.", "kind")
	t.dropped = t.counter(r, "laconic_results_dropped_total", "tool results",
		"Results with content that no call could own, in requests that were sent.").WithLabelValues()

	t.refusals = t.counter(r, "laconic_refusals_total", inRequests,
		"Requests that the upstream refused for a reason that a second send may cure. second_send says what became of it: answered, refused, or why there was none.", "reason", "second_send")
	t.truncated = t.counter(r, "laconic_truncated_answers_total", "answers",
		"Answers under 200 whose end shows that they are not whole, by what it shows: the window was full (context_window, length_without_output), there was nothing (without_output), or the stream ended early (without_done, half_event).", "ended")
	t.cut = t.counter(r, "laconic_cut_prompts_total", inRequests,
		"Prompts that the upstream cut without a word, as its usage shows.").WithLabelValues()

	t.slots = t.counter(r, "laconic_slots_total", inRequests,
		"Requests with a slot while a summarizer is configured, by what fills it: summaries that were there (hit) or waited for (made), or the digest for a reason.", "text", "reason")
	t.summaries = t.counter(r, "laconic_summaries_total", "attempts",
		"Attempts at a summary: made, found in the store, or why there is none.", "result")
	t.summaryTime = t.histogram(r, "laconic_summarizer_duration_seconds",
		"Attempts for which the model was asked, from beginning to end.", modelBuckets).WithLabelValues()
	t.summaryCalls = t.counter(r, "laconic_summarizer_requests_total", inRequests,
		"Requests to the summarizer's model.").WithLabelValues()
	t.summaryTokens = t.counter(r, "laconic_summarizer_source_tokens_total", inTokens,
		"What it was sent to summarize, about.").WithLabelValues()
	t.summarizing = t.read("gauge", "laconic_summaries_running", "attempts", "Summaries that are being made.")

	t.learnt = t.read("gauge", "laconic_learnt_facts", "models",
		"Models, each behind one upstream and for one credential, with a fact that is believed: a limit (window, input, messages, bytes, hard), that prompt and answer are refused together (together), how it counts (count), or what its chat template demands of a list (shape).", "fact")

	t.upstreamUp = t.read("gauge", "laconic_upstream_up", "1 or 0", "Whether the upstream answers, as the last requests to it show; nobody probes. Three failures in succession are 0.", "upstream")
	t.upstreamFailures = t.read("gauge", "laconic_upstream_failures", inRequests, "Requests that failed since the last one that was answered.", "upstream")
	t.upstreamAnswered = t.read("gauge", "laconic_upstream_last_answer_timestamp_seconds", inTime, "When a request was answered last; 0: never.", "upstream")
	t.upstreamFailed = t.read("gauge", "laconic_upstream_last_failure_timestamp_seconds", inTime, "When a request failed last; 0: never.", "upstream")
	t.changes = t.counter(r, "laconic_upstream_changes_total", "changes",
		"How often requests showed that an upstream is down, is up again, has no such path, or cuts prompts to its window.", "upstream", "event")

	t.memory = t.read("gauge", "laconic_body_memory_bytes", inBytes, "Memory that bodies take, and what is made of them.")
	t.memoryMost = t.read("gauge", "laconic_body_memory_limit_bytes", inBytes, "What they may take: limits.memory.")
	t.arriving = t.read("gauge", "laconic_bodies_arriving", "bodies", "Bodies that are being received.")
	t.waiting = t.read("gauge", "laconic_bodies_waiting", inRequests, "Requests that wait for memory: to receive their body (arrival), or to work on it (work).", "for")

	t.storeUp = t.read("gauge", "laconic_store_up", "1 or 0",
		"0 while a shared store (Redis), or a master of it, does not answer. Requests go on without it.")
	t.storeRefuses = t.read("gauge", "laconic_store_refuses", "1 or 0",
		"1 for what a shared store refused when it was asked last: an operation, or hear for what other processes call. The log has its word, such as READONLY or NOPERM.", "operation")
	t.storeOperations = t.read("counter", "laconic_store_operations_total", "operations",
		"What a shared store (Redis) was asked: get, put, lock, erase, call. Each takes one round trip.", "operation")
	t.storeFailed = t.read("counter", "laconic_store_failed_operations_total", "operations",
		"Operations that it did not answer, or refused.", "operation")

	t.faults = t.counter(r, "laconic_faults_total", "faults", "Faults of the proxy's own. The log has a line for each.").WithLabelValues()
	t.peers = t.counter(r, "laconic_peer_errors_total", "errors", "Clients and upstreams that broke their protocol.").WithLabelValues()
	t.logLines = t.read("counter", "laconic_log_lines_dropped_total", "lines", "Lines of the log that were dropped, because nobody took them.")

	t.build = t.gauge(r, "laconic_build_info", isInfo, "What runs.", "version", "revision", "goversion")
	t.config = t.gauge(r, "laconic_config_info", isInfo, "Settings that are on or off.",
		"overrides", "response_headers", "strict", "reject_faults", "client_keys", "summarizer", "kept_facts", "tls")
	t.routes = t.gauge(r, "laconic_route_info", isInfo, "The rows of the configuration.", "route", "upstream", "policy", "mode")
	t.reloadOK = t.gauge(r, "laconic_config_last_reload_successful", "1 or 0", "Whether the configuration was taken when it was read last.").WithLabelValues()
	t.reloadTime = t.gauge(r, "laconic_config_last_reload_success_timestamp_seconds", inTime, "When a configuration was taken last.").WithLabelValues()
	return t
}

func (t *table) counter(r *prometheus.Registry, name, unit, help string, labels ...string) *prometheus.CounterVec {
	t.Rows = append(t.Rows, Row{name, "counter", labels, unit, help})
	return promauto.With(r).NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func (t *table) gauge(r *prometheus.Registry, name, unit, help string, labels ...string) *prometheus.GaugeVec {
	t.Rows = append(t.Rows, Row{name, "gauge", labels, unit, help})
	return promauto.With(r).NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
}

func (t *table) histogram(r *prometheus.Registry, name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	t.Rows = append(t.Rows, Row{name, "histogram", labels, inSeconds, help})
	return promauto.With(r).NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// read describes a gauge or a counter whose value is read when it is asked for.
func (t *table) read(kind, name, unit, help string, labels ...string) *prometheus.Desc {
	t.Rows = append(t.Rows, Row{name, kind, labels, unit, help})
	return prometheus.NewDesc(name, help, labels, nil)
}
