# make test   what the README names: a few minutes, no network, no key. go test ./e2e/stories is the loop of a change
# make check  what a change needs: format, vet, lint, linear costs, the race detector, and every test in its short form,
#             in a clone that has nothing beside it
# make long   every test in full, and all that is below, before a release. To end within an hour or two it
#             sweeps 1.5 GB of bodies; LACONIC_SWEEP=full sweeps all of them
# make oracle compares token counts with OpenAI's own tokenizer (needs npm, takes two minutes).
# make survival measures what forty calls leave to the model (minutes; WINDOWS=16000 for one window).
# make llamacpp puts Laconic in front of a real llama-server, with every chat template (minutes; fetches 60 MB, installs nothing).
# make e2e    runs real agents from npm against an upstream with a small window (installs 1.8 GB).
# make hostile what attackers and slow peers do: many sockets, bombs, stalled readers (a minute or two).
# make cluster three replicas behind HAProxy with one Redis, under load and faults (minutes; needs haproxy and redis-server).
# make deploy renders the chart for Kubernetes and checks it (builds Helm, the first time).
# make yardstick what the default policy keeps and costs on recorded conversations (half a minute; YARDSTICK_ALL=1 for all policies).
# The rest: make golden (rewrite golden files), make bench, make build, make image.

GO       ?= go
FUZZTIME ?= 20s
FUZZ      = $(shell grep -roE '^func Fuzz\w+' --include='*_test.go' . | sed -E 's|/[^/]+:func |:|')

.PHONY: test long check fmt vet cross lint linear race clone fuzz vuln survival yardstick hostile cluster cluster-short oracle golden bench build image pin pinned notices snapshot deploy llamacpp e2e e2e-all

test:
	$(GO) test -short ./...

check: fmt vet cross lint linear race clone

LACONIC_SWEEP ?= half
long: check fuzz vuln oracle llamacpp e2e survival hostile cluster deploy
	LACONIC_SWEEP=$(LACONIC_SWEEP) $(GO) test -timeout 60m ./...

fmt:
	@out=$$($(GO) tool gofumpt -l .); if [ -n "$$out" ]; then echo "gofumpt would change:"; echo "$$out"; exit 1; fi

vet:
	$(GO) vet ./...

# What is built for other systems is only run there.
CROSS ?= windows darwin
cross:
	@for system in $(CROSS); do echo "go vet for $$system"; GOOS=$$system CGO_ENABLED=0 $(GO) vet ./... || exit 1; done

lint:
	$(GO) tool staticcheck ./...

# Every package outside of e2e that starts goroutines or guards something against them, by what
# its files say: pure ones share nothing, or what a sync.Once makes and nobody changes. The stories
# are those of reloads and streams: the others send requests one by one.
SHARES = ^[[:space:]]+go [[:alnum:]_.]+[({]|sync\.(Mutex|RWMutex|WaitGroup|Map|Pool|Cond)|atomic\.|errgroup\.|synctest\.
race:
	$(GO) test -race -short $$(grep -rlE '$(SHARES)' --include='*.go' --exclude-dir='.?*' --exclude-dir=e2e . | xargs -n1 dirname | sort -u)
	$(GO) test -race -short -run '^TestStories$$/^(reload|streaming|summaries|client_leaves|shutdown|facts_shared)$$' ./e2e/stories

# Minimizing an input may outlast the time there is, and Go calls that a
# failure: a few tries are enough.
fuzz:
	@for target in $(FUZZ); do \
		echo "fuzz $$target"; \
		$(GO) test -run '^$$' -fuzz "^$${target##*:}$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 5x "$${target%%:*}" || exit 1; \
	done

linear:
	$(GO) test -timeout 10m -run '^TestCostIsLinear$$' ./e2e/sweep

# The tests as a newcomer runs them, of what is here, committed or not: what the repository
# does not hold is skipped.
clone:
	@clone=$$(mktemp -d) && trap 'rm -rf "$$clone"' EXIT && git clone -q . "$$clone/laconic" && \
	{ git diff --quiet HEAD || git diff --binary HEAD | git -C "$$clone/laconic" apply; } && \
	git ls-files -oz --exclude-standard | xargs -0r cp --parents -t "$$clone/laconic" && \
	cd "$$clone/laconic" && env -u LACONIC_NO_SKIP -u LACONIC_SHARED $(GO) test -short ./...

# The vulnerability database is a service on the network: where it cannot be
# reached, this says so and goes on.
vuln:
	@out=$$($(GO) tool govulncheck ./... 2>&1); code=$$?; echo "$$out" | tail -n 5; \
	if [ $$code -eq 0 ]; then exit 0; fi; \
	case "$$out" in *"dial tcp"*|*"no such host"*|*"Forbidden"*|*"connection refused"*|*"proxyconnect"*|*"i/o timeout"*) echo "govulncheck: the vulnerability database cannot be reached from here; not checked" ;; *) exit $$code ;; esac

# -v shows the table; UPDATE=-update writes it into docs/survival.md.
WINDOWS ?= all
survival:
	LACONIC_SURVIVAL=$(WINDOWS) $(GO) test -v -count=1 -timeout 20m -run '^TestSurvival$$' ./e2e/survival $(UPDATE)

# It needs the larger set of conversations, which is not part of the repository.
yardstick:
	YARDSTICK_QUICK=1 $(GO) test -v -count=1 -run '^TestYardstick$$' ./replay

# On loopback alone: replicas that agree, faults, and what Redis is asked; then Sentinel, Cluster, TLS, users and prefixes, without load. UPDATE=-update
# writes the tables into docs/replicas.md.
cluster cluster-short:
	LACONIC_CLUSTER=$(if $(filter cluster,$@),full,short) $(GO) test -v -count=1 -timeout 15m ./e2e/cluster $(UPDATE)
	$(if $(filter cluster,$@),$(GO) test -count=1 -run 'Cluster|Slot|Sentinels|TLSWith|ADatabase|APrefix' ./store)

# On loopback alone, bounded in sockets, bytes and time.
hostile:
	LACONIC_HOSTILE=1 $(GO) test -count=1 -timeout 10m -run '^TestHostile' ./e2e/binary

# What renders and checks the chart, and the custom resources of the Prometheus operator:
# all of it comes from the Go module proxy and is kept in .tools, which git ignores.
HELM      := helm.sh/helm/v4/cmd/helm@v4.3.1
VALIDATE  := sigs.k8s.io/kubectl-validate@v0.0.4
RESOURCES := github.com/prometheus-operator/prometheus-operator@v0.85.0
.tools/helm:
	GOBIN=$(abspath .tools) $(GO) install $(HELM)
.tools/kubectl-validate:
	GOBIN=$(abspath .tools) $(GO) install $(VALIDATE)
CRDS      := .tools/crds/monitoring.coreos.com_servicemonitors.yaml .tools/crds/monitoring.coreos.com_prometheusrules.yaml
$(CRDS):
	$(GO) mod download $(RESOURCES)
	mkdir -p $(@D) && cp "$$($(GO) env GOMODCACHE)"/$(RESOURCES)/example/prometheus-operator-crd/$(@F) $@
deploy: .tools/helm .tools/kubectl-validate $(CRDS)
	LACONIC_NO_SKIP=1 $(GO) test -count=1 -run 'Chart|TheManuals' ./e2e/deploy

# -v shows how many bytes were compared.
oracle:
	cd tokenize/bpe/testdata/oracle && npm ci --no-audit --no-fund --loglevel=error
	LACONIC_ORACLE=1 $(GO) test -count=1 -v -run '^TestOracle' ./tokenize/bpe

golden:
	$(GO) test -short ./compact ./compact/stage ./proxy/wire ./cli -update
	$(GO) test ./config -run Schema -update
	$(GO) test ./proxy/metrics -run Manual -update
	cp deploy/alerts.yaml deploy/grafana.json deploy/chart/files
	$(GO) test ./e2e ./e2e/stories -run '^(TestStories|TestTheFirstMinutesAreAsWritten)$$' -update

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./compact ./proxy/wire
	$(GO) test -run '^$$' -bench . ./e2e/binary

build:
	CGO_ENABLED=0 $(GO) build -trimpath -ldflags "-s -w" -o laconic .

image:
	docker build -t laconic .

# The images by digest, which a release insists on: pin asks their registries for it.
IMAGES := Dockerfile deploy/release.Dockerfile deploy/compose.yaml deploy/chart/values.yaml
NAMED  := (golang|redis|prom/prometheus):[0-9a-z.-]+
pin:
	@for name in $$(grep -ohE '$(NAMED)' $(IMAGES) | sort -u); do \
		digest=$$(docker buildx imagetools inspect "$$name" --format '{{.Manifest.Digest}}') || exit 1; \
		sed -i -E "s#$$name(@sha256:[0-9a-f]+)?#$$name@$$digest#" $(IMAGES); \
	done
pinned:
	@! grep -nE '$(NAMED)([^0-9a-z.@-]|$$)' $(IMAGES) || { echo "images that are named by tag alone: make pin, then commit"; exit 1; }

# The licences of all modules in the binary. It fails where one has none.
notices:
	deploy/notices .tools/THIRD_PARTY_NOTICES

# What a release is made of, without publishing: archives, packages, checksums. Bills
# of material need syft, and images docker: both are left out where they are missing.
GORELEASER := github.com/goreleaser/goreleaser/v2@v2.15.0
.tools/goreleaser:
	GOBIN=$(abspath .tools) $(GO) install $(GORELEASER)
snapshot: .tools/goreleaser
	.tools/goreleaser check
	.tools/goreleaser release --snapshot --clean --skip=publish$$(command -v syft >/dev/null || echo ,sbom)$$(docker info >/dev/null 2>&1 || echo ,docker)

# What was fetched is kept in .llamacpp, which git ignores; `make test` then has a short
# form of these. -v shows what llama.cpp counted and evaluated.
llamacpp:
	e2e/llamacpp/fetch
	LACONIC_LLAMACPP=full $(GO) test -v -count=1 -timeout 40m ./e2e/llamacpp

# Some 1.8 GB of agents are installed into $(AGENTS), which git ignores. e2e runs
# each once, e2e-all in four windows.
AGENTS ?= .e2e
e2e e2e-all:
	npm install --prefix $(AGENTS) --no-audit --no-fund --loglevel=error \
		openai@7.57.0 opencode-ai@1.18.33 @qwen-code/qwen-code@0.24.4 @mariozechner/pi-coding-agent@0.73.1 \
		@openai/codex@0.171.0 cline@3.0.65 \
		@github/copilot@1.0.102 @continuedev/cli@1.5.47 @anthropic-ai/claude-code@2.1.332 @anthropic-ai/sdk@1.14.0 \
		@openai/agents@0.20.0 zod@4.6.7 ai@7.0.173 @ai-sdk/openai@4.0.118 @ai-sdk/anthropic@4.0.105
	LACONIC_AGENTS=$(abspath $(AGENTS))/node_modules/.bin LACONIC_SURVIVAL=$(if $(filter e2e-all,$@),all) \
		$(GO) test -v -count=1 -timeout 30m -run '^Test((Run)?Clients|CodexCompacts|ClaudeOnLlamaCpp)$$' ./e2e/survival $(UPDATE)
