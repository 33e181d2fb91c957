package deploy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tidwall/gjson"
	"go.yaml.in/yaml/v4"
)

// objects are those of a rendered chart, as JSON.
type objects []gjson.Result

// parseObjects reads the documents that helm template writes.
func parseObjects(t *testing.T, text string) (all objects) {
	t.Helper()
	for doc := range strings.SplitSeq("\n"+text, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatalf("%v in\n%s", err, doc)
		}
		if b, err := json.Marshal(o); err != nil {
			t.Fatal(err)
		} else if o != nil {
			all = append(all, gjson.ParseBytes(b))
		}
	}
	return all
}

func (all objects) of(kind string) (some objects) {
	for _, o := range all {
		if o.Get("kind").Str == kind {
			some = append(some, o)
		}
	}
	return some
}

func (all objects) named(kind, name string) gjson.Result {
	for _, o := range all.of(kind) {
		if o.Get("metadata.name").Str == name {
			return o
		}
	}
	return gjson.Result{}
}

// matches reports whether labels have all that a selector asks for.
func matches(selector, labels gjson.Result) bool {
	found := len(selector.Map()) > 0
	for k, v := range selector.Map() {
		found = found && labels.Map()[k].Str == v.Str
	}
	return found
}

const (
	podSpec  = "spec.template.spec."
	podLabel = "spec.template.metadata.labels"
)

// proxyConfig is the part of the configuration that objects must agree with.
type proxyConfig struct {
	Store  struct{ URL, Password string }
	Limits struct{ Drain, Shutdown time.Duration }
}

// faults returns what would not work once the objects are applied: selectors that find
// nothing, names that lead nowhere, pods that a namespace under the restricted standard
// refuses, and times that do not go with the configuration.
func (all objects) faults(secret []string) (faults []string) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	pods := func(who string, selector gjson.Result) (found gjson.Result) {
		n := 0
		for _, d := range all.of("Deployment") {
			if matches(selector, d.Get(podLabel)) {
				found, n = d, n+1
			}
		}
		if n != 1 {
			fault("%s selects the pods of %d deployments", who, n)
		}
		return found
	}
	port := func(who string, d, port gjson.Result) {
		for _, p := range d.Get(podSpec + "containers.0.ports").Array() {
			if port.String() == p.Get("name").Str || port.String() == p.Get("containerPort").String() {
				return
			}
		}
		fault("%s: the pods have no port %s", who, port)
	}
	key := func(who, name string) {
		if !slices.Contains(secret, name) {
			fault("%s: the Secret has no %s", who, name)
		}
	}

	for _, d := range all.of("Deployment") {
		who, pod, k := d.Get("metadata.name").Str, d.Get(podSpec+"@this"), d.Get(podSpec+"containers.0")
		pods(who, d.Get("spec.selector.matchLabels"))
		for _, s := range pod.Get("topologySpreadConstraints").Array() {
			pods(who+", topology spread", s.Get("labelSelector.matchLabels"))
		}
		for path, want := range map[string]string{
			"securityContext.runAsNonRoot": "true", "securityContext.seccompProfile.type": "RuntimeDefault", "automountServiceAccountToken": "false",
			"containers.0.securityContext.allowPrivilegeEscalation": "false", "containers.0.securityContext.readOnlyRootFilesystem": "true",
			"containers.0.securityContext.capabilities.drop": `["ALL"]`, "containers.0.resources.limits.cpu": "", "containers.0.lifecycle": "",
		} {
			if got := pod.Get(path); got.String() != want {
				fault("%s: %s is %q, not %q", who, path, got, want)
			}
		}
		if pod.Get("securityContext.runAsUser").Int() == 0 {
			fault("%s runs as root", who)
		}
		for _, probe := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
			p := k.Get(probe)
			if at := cmp.Or(p.Get("httpGet.port").String(), p.Get("tcpSocket.port").String()); at != "" {
				port(who+", "+probe, d, gjson.Result{Type: gjson.String, Str: at})
			} else if !p.Get("exec").Exists() {
				fault("%s has no %s", who, probe)
			}
		}
		for _, e := range k.Get("env").Array() {
			key(who, e.Get("valueFrom.secretKeyRef.key").Str)
		}
		if k.Get("name").Str == "laconic" {
			all.proxy(d, fault)
		}
	}
	for _, s := range all.of("Service") {
		who := "Service " + s.Get("metadata.name").Str
		d := pods(who, s.Get("spec.selector"))
		for _, p := range s.Get("spec.ports").Array() {
			port(who, d, p.Get("targetPort"))
		}
	}
	for _, i := range all.of("Ingress") {
		to := i.Get("spec.rules.0.http.paths.0.backend.service")
		if s := all.named("Service", to.Get("name").Str); !s.Exists() {
			fault("the Ingress leads to no service %s", to.Get("name"))
		} else if s.Get("spec.ports.0.name").Str != to.Get("port.name").Str || to.Get("port.name").Str != "http" {
			fault("the Ingress leads to the admin Service, or to no port")
		}
	}
	for _, b := range all.of("PodDisruptionBudget") {
		pods("PodDisruptionBudget", b.Get("spec.selector.matchLabels"))
		if b.Get("spec.maxUnavailable").Int() < 1 {
			fault("the PodDisruptionBudget lets no node be drained")
		}
	}
	for _, s := range all.of("HorizontalPodAutoscaler") {
		name := s.Get("spec.scaleTargetRef.name").Str
		if d := all.named("Deployment", name); !d.Exists() || d.Get("spec.replicas").Exists() {
			fault("the HorizontalPodAutoscaler scales %s, which is no Deployment, or has replicas of its own", name)
		}
	}
	for _, n := range all.of("NetworkPolicy") {
		who := "NetworkPolicy " + n.Get("metadata.name").Str
		d := pods(who, n.Get("spec.podSelector.matchLabels"))
		for direction, peers := range map[string]string{"ingress": "from", "egress": "to"} {
			for _, rule := range n.Get("spec." + direction).Array() {
				if len(rule.Get(peers).Array()) == 0 || len(rule.Get("ports").Array()) == 0 {
					fault("%s: %s is open for all", who, direction)
				}
				to := d
				for _, peer := range rule.Get(peers).Array() {
					if !peer.Get("namespaceSelector").Exists() && peer.Get("podSelector").Exists() {
						if p := pods(who, peer.Get("podSelector.matchLabels")); direction == "egress" {
							to = p
						}
					}
				}
				for _, p := range rule.Get("ports").Array() {
					if direction == "ingress" || to.Raw != d.Raw {
						port(who, to, p.Get("port"))
					}
				}
			}
		}
	}
	for _, m := range all.of("ServiceMonitor") {
		e, found := m.Get("spec.endpoints.0"), 0
		for _, s := range all.of("Service") {
			labels := s.Get("metadata.labels")
			if matches(m.Get("spec.selector.matchLabels"), labels) && s.Get("spec.ports.0.name").Str == e.Get("port").Str &&
				labels.Map()[m.Get("spec.jobLabel").Str].Str == "laconic" { // as alert rules ask for
				found++
			}
		}
		if found != 1 {
			fault("the ServiceMonitor finds %d services", found)
		}
		key("the ServiceMonitor", e.Get("authorization.credentials.key").Str)
	}
	return faults
}

// configuration returns the proxy's configuration, which a ConfigMap mounts as a folder:
// a file by subPath would never change. "": there is none.
func (all objects) configuration(d gjson.Result) string {
	args := d.Get(podSpec + "containers.0.args").Array()
	at := slices.IndexFunc(args, func(a gjson.Result) bool { return a.Str == "--config" })
	if at < 0 || at+1 == len(args) {
		return ""
	}
	for _, m := range d.Get(podSpec + "containers.0.volumeMounts").Array() {
		if m.Get("mountPath").Str != path.Dir(args[at+1].Str) || m.Get("subPath").Exists() {
			continue
		}
		for _, v := range d.Get(podSpec + "volumes").Array() {
			if v.Get("name").Str == m.Get("name").Str {
				return all.named("ConfigMap", v.Get("configMap.name").Str).Get("data").Map()[path.Base(args[at+1].Str)].Str
			}
		}
	}
	return ""
}

// proxy compares the proxy's pod with its configuration.
func (all objects) proxy(d gjson.Result, fault func(format string, args ...any)) {
	var c proxyConfig
	text := all.configuration(d)
	if err := yaml.Unmarshal([]byte(text), &c); err != nil || text == "" {
		fault("no ConfigMap is mounted as a folder: %v", err)
		return
	}
	if grace := d.Get(podSpec + "terminationGracePeriodSeconds").Int(); grace != int64((c.Limits.Drain+c.Limits.Shutdown).Seconds())+10 {
		fault("terminationGracePeriodSeconds is not limits.drain, limits.shutdown and 10 s")
	}
	// A pod that ends and is not deleted is in its Service until the probe has failed.
	p := d.Get(podSpec + "containers.0.readinessProbe")
	if s := p.Get("periodSeconds").Int()*p.Get("failureThreshold").Int() + p.Get("timeoutSeconds").Int(); int64(c.Limits.Drain.Seconds()) <= s {
		fault("limits.drain (%v) is over before the readiness probe has failed", c.Limits.Drain)
	}
	if c.Store.URL == "" {
		return
	}
	host, _, _ := strings.Cut(strings.TrimPrefix(c.Store.URL, "redis://"), ":")
	if redis := all.named("Deployment", host); !all.named("Service", host).Exists() {
		fault("there is no Service for the store %s", c.Store.URL)
	} else if e := redis.Get(podSpec + "containers.0.env.0"); c.Store.Password != "${"+e.Get("valueFrom.secretKeyRef.key").Str+"}" ||
		!strings.Contains(redis.Get(podSpec+"containers.0.args.2").Str, "\nrequirepass $"+e.Get("name").Str+"\n") {
		fault("the store does not ask for the password %s", c.Store.Password)
	}
}
