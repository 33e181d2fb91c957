package render

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"sigs.k8s.io/yaml"
)

const (
	manifests = "../kubernetes"
	chart     = "../chart"
)

// variants are the kustomizations, each with the values that make the chart the same.
var variants = []struct{ name, folder, values string }{
	{"base", "base", ""},
	{"redis", "overlays/redis", "redis: {enabled: true}"},
	{"prometheus", "overlays/prometheus", "{serviceMonitor: {enabled: true}, autoscaling: {requests: 500}}"},
	{"vllm", "overlays/vllm", example("vllm.yaml")},
	{"all", "overlays/all", "{redis: {enabled: true}, serviceMonitor: {enabled: true}, autoscaling: {requests: 500}}"},
}

// example returns the values of an example of the chart.
func example(name string) string {
	text, err := os.ReadFile(filepath.Join(chart, "examples", name))
	if err != nil {
		return err.Error() // which is no values
	}
	return string(text)
}

// each calls f with what every variant is, made by kustomize and by Helm.
func each(t *testing.T, f func(t *testing.T, objects []Object)) {
	for _, v := range variants {
		t.Run(v.name+"/kustomize", func(t *testing.T) { f(t, kustomized(t, v.folder)) })
		t.Run(v.name+"/helm", func(t *testing.T) { f(t, helmed(t, v.values)) })
	}
}

func kustomized(t *testing.T, folder string) []Object {
	t.Helper()
	objects, err := Kustomization(filepath.Join(manifests, folder))
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func helmed(t *testing.T, values string) []Object {
	t.Helper()
	objects, _, err := Chart(chart, values)
	if err != nil {
		t.Fatal(err)
	}
	return objects
}

func cluster(t *testing.T, objects []Object) *Cluster {
	t.Helper()
	c, err := NewCluster(objects)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Who starts with one and goes on with the other finds the same objects.
func TestChartAndManifestsAgree(t *testing.T) {
	for _, v := range variants {
		t.Run(v.name, func(t *testing.T) {
			theirs, ours := said(t, kustomized(t, v.folder)), said(t, helmed(t, v.values))
			for id, want := range theirs {
				if got, ok := ours[id]; !ok {
					t.Errorf("the chart has no %s", id)
				} else if !reflect.DeepEqual(got, want) {
					t.Errorf("%s\n--- the chart\n%s\n--- the manifests\n%s", id, text(got), text(want))
				}
			}
			for id := range ours {
				if theirs[id] == nil {
					t.Errorf("the manifests have no %s", id)
				}
			}
		})
	}
}

// said returns what objects say, without what Helm says of itself, with configurations
// read.
func said(t *testing.T, objects []Object) map[string]Object {
	all := map[string]Object{}
	for _, o := range objects {
		if labels, ok := o["metadata"].(map[string]any)["labels"].(map[string]any); ok {
			delete(labels, "helm.sh/chart")
			delete(labels, "app.kubernetes.io/managed-by")
		}
		if data, ok := o["data"].(map[string]any); ok && o.Kind() == "ConfigMap" {
			for name, file := range data {
				var config map[string]any
				if err := yaml.UnmarshalStrict([]byte(file.(string)), &config); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				data[name] = config
			}
		}
		all[o.Kind()+" "+o.Name()] = o
	}
	return all
}

func text(o Object) string {
	b, _ := yaml.Marshal(o)
	return string(b)
}

func TestKubernetesTakesEveryObject(t *testing.T) {
	each(t, func(t *testing.T, objects []Object) {
		for _, version := range Versions {
			for _, fault := range Invalid(objects, version) {
				t.Error(fault)
			}
		}
	})
}

func TestObjectsFindEachOther(t *testing.T) {
	each(t, func(t *testing.T, objects []Object) {
		for _, fault := range cluster(t, objects).Faults() {
			t.Error(fault)
		}
	})
}

func TestHelmLintsTheChart(t *testing.T) {
	for _, m := range lint.RunAll(chart, map[string]any{}, Namespace).Messages {
		if m.Severity > support.InfoSev {
			t.Error(m)
		}
	}
}

// A value that nobody reads is a mistake that nobody would see.
func TestTheChartRefusesValues(t *testing.T) {
	for values, want := range map[string]string{
		"relicas: 3":                                                  "relicas",
		"image: {tagg: v1}":                                           "tagg",
		"autoscaling: {min: two}":                                     "autoscaling",
		"config: {limits: {shutdown: 1h30m}}":                         "shutdown",
		"config: {listen: '127.0.0.1:7280'}":                          "listen",
		"config: {listen: 'localhost:7280'}":                          "listen",
		"config: {admin: '[::1]:7281'}":                               "admin",
		"config: {listen: '0.0.0.0:7280'}":                            "",
		"config: {listen: '[::]:7280'}":                               "",
		"config: {limits: {drain: 0s}}":                               "drain",
		"config: {limits: {drain: 08s}}":                              "drain",
		"config: {limits: {drain: 6s}}":                               "more than 6s",
		"config: {limits: {drain: 7s}}":                               "",
		"config: {limits: {drain: 1m}}":                               "",
		"config: {limits: {shutdown: 010s}}":                          "shutdown",
		"config: {limits: {memory: 512}}":                             "memory",
		"config: {limits: {memory: 1GiB}}":                            "1492Mi or more",
		"resources: {limits: {memory: 256Mi}}":                        "817Mi or more",
		"resources: {limits: {memory: 816Mi}}":                        "817Mi or more",
		"resources: {limits: {memory: 817Mi}}":                        "",
		"resources: {limits: {memory: 2Gi}}":                          "",
		"resources: {limits: {memory: 1G}}":                           "whole Mi or Gi",
		"resources: {limits: null}":                                   "",
		"resources: {limits: {memory: null}}":                         "",
		"autoscaling: {min: 5, max: 2}":                               "autoscaling.min",
		"autoscaling: {min: 3, max: 3}":                               "",
		"secret: 'Bad Name!'":                                         "secret",
		"secret: ends-with-":                                          "secret",
		"secret: a.good-1":                                            "",
		"service: {type: ExternalName}":                               "service",
		"extraVolumes: [{name: config}]":                              "extraVolumes",
		"extraVolumeMounts: [{name: ca, mountPath: /etc/laconic/ca}]": "extraVolumeMounts",
		"extraVolumeMounts: [{name: ca, mountPath: /etc/laconic}]":    "extraVolumeMounts",
		"config: {listen: ':8080'}":                                   "listen",
		"config: {admin_token: secret-in-a-git-repo}":                 "admin_token",
		"networkPolicy: {clients: []}":                                "clients",
	} {
		_, _, err := Chart(chart, values)
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", values, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", values, err)
		}
	}
}

// What the chart's values change arrives where it should.
func TestValues(t *testing.T) {
	objects := helmed(t, `
image: {repository: registry.example/laconic, tag: v1}
secret: keys
config:
  upstream: http://vllm.models:8000/v1
  limits: {drain: 20s, shutdown: 2m}
  models: [{match: "*", window: 32768}]
  store: {ttl: 24h}
redis: {enabled: true}
autoscaling: {min: 3}
imagePullSecrets: [{name: registry}]
nodeSelector: {pool: agents}
tolerations: [{key: agents, operator: Exists}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: arch, operator: In, values: [arm64]}]}]}}}
podAnnotations: {team: platform}
extraVolumes: [{name: ca, configMap: {name: redis-ca}}]
extraVolumeMounts: [{name: ca, mountPath: /etc/redis, readOnly: true}]
service: {type: LoadBalancer, annotations: {scheme: internal}}
networkPolicy: {upstreams: [{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: models}}}], ports: [{port: 8000, protocol: TCP}]}]}
serviceMonitor: {enabled: true, labels: {release: stack}}
`)
	for _, fault := range append(Invalid(objects, Versions[0]), cluster(t, objects).Faults()...) {
		t.Error(fault)
	}
	all := said(t, objects)
	f := func(id, want string) {
		t.Helper()
		if !strings.Contains(text(all[id]), want) {
			t.Errorf("%s has no %s:\n%s", id, want, text(all[id]))
		}
	}
	f("Deployment laconic", "terminationGracePeriodSeconds: 150")
	f("Deployment laconic", "image: registry.example/laconic:v1")
	f("Deployment laconic", "name: keys")
	f("ServiceMonitor laconic", "name: keys")
	f("ServiceMonitor laconic", "release: stack")
	f("HorizontalPodAutoscaler laconic", "minReplicas: 3")
	f("NetworkPolicy laconic", "port: 8000")
	for _, id := range []string{"Deployment laconic", "Deployment laconic-redis"} {
		f(id, "imagePullSecrets:\n      - name: registry")
		f(id, "nodeSelector:\n        pool: agents")
		f(id, "tolerations:\n      - key: agents")
	}
	f("Deployment laconic", "affinity:\n        nodeAffinity")
	f("Deployment laconic", "annotations:\n        team: platform")
	f("Deployment laconic", "mountPath: /etc/redis\n          name: ca")
	f("Deployment laconic", "- configMap:\n          name: redis-ca\n        name: ca")
	f("Service laconic", "type: LoadBalancer")
	f("Service laconic", "annotations:\n    scheme: internal")
	f("ConfigMap laconic", "ttl: 24h")
	f("ConfigMap laconic", "url: redis://laconic-redis:6379/0")
	f("ConfigMap laconic", "memory: 512MiB")
}

// A rule beside those that are there takes none of them away.
func TestMoreWaysOut(t *testing.T) {
	const more = "- to:\n      - ipBlock:\n          cidr: 10.1.2.3/32\n      ports: [{port: 6379, protocol: TCP}]"
	objects := helmed(t, "networkPolicy:\n  more:\n    "+more)
	for _, fault := range append(Invalid(objects, Versions[0]), cluster(t, objects).Faults()...) {
		t.Error(fault)
	}
	policy := text(said(t, objects)["NetworkPolicy laconic"])
	for _, want := range []string{"port: 53", "port: 443", "cidr: 10.1.2.3/32", "port: 6379"} {
		if !strings.Contains(policy, want) {
			t.Errorf("no %s in\n%s", want, policy)
		}
	}
}

// The overlay that the manual has the reader write is rendered where it says.
func TestTheManualsOverlay(t *testing.T) {
	_, text, _ := strings.Cut(manual(t), "```yaml\n# deploy/kubernetes/overlays/mine/kustomization.yaml")
	text, rest, _ := strings.Cut(text, "```")
	_, patches, _ := strings.Cut(rest, "```yaml\npatches:\n")
	patches, _, _ = strings.Cut(patches, "```")
	text += "patches:\n" + patches
	folder, err := os.MkdirTemp(filepath.Join(manifests, "overlays"), "mine-")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(folder)
	ours, err := os.ReadFile(filepath.Join(manifests, "components/redis/laconic.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	mine := strings.Replace(string(ours), "https://api.openai.com/v1", "https://mine.example/v1", 1)
	for name, content := range map[string]string{"kustomization.yaml": "#" + text, "laconic.yaml": mine} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	objects, err := Kustomization(folder)
	if err != nil {
		t.Fatal(err)
	}
	c := cluster(t, objects)
	for _, fault := range append(Invalid(objects, Versions[0]), c.Faults()...) {
		t.Error(fault)
	}
	for _, d := range c.Deployments {
		if len(d.Spec.Template.Spec.ImagePullSecrets) != 1 {
			t.Errorf("%s has no pull secret", d.Name)
		}
	}
	if policy := said(t, objects)["NetworkPolicy laconic"]; !strings.Contains(fmt.Sprint(policy), "10.1.2.3/32") {
		t.Errorf("no way to 10.1.2.3:\n%s", policy)
	}
	if _, config, _ := pod(t, c); config != mine {
		t.Errorf("the configuration is\n%s", config)
	}
	for _, o := range objects {
		if meta := o["metadata"].(map[string]any); meta["namespace"] != Namespace {
			t.Errorf("%s %s is in the namespace %v", o.Kind(), o.Name(), meta["namespace"])
		}
	}
}

// The values of the manual for a Redis of one's own are those of a chart that works.
func TestTheManualsVolume(t *testing.T) {
	_, values, _ := strings.Cut(manual(t), "```yaml\nextraVolumes:")
	values, _, _ = strings.Cut(values, "```")
	objects := helmed(t, "extraVolumes:"+values)
	for _, fault := range Invalid(objects, Versions[0]) {
		t.Error(fault)
	}
	_, config, _ := pod(t, cluster(t, objects))
	if says := checked(t, config); !strings.Contains(says, "store.tls: ca cannot be read") || !strings.Contains(says, "1 problem\n") {
		t.Errorf("more is wrong than that the file is not here: %s", says)
	}
}

// What the checks find: each case is a mistake in what was right.
func TestChecksFindMistakes(t *testing.T) {
	f := func(name, from, to, want string) {
		t.Run(name, func(t *testing.T) {
			var changed []Object
			for _, o := range kustomized(t, "overlays/all") {
				var n Object
				if err := yaml.Unmarshal([]byte(strings.Replace(text(o), from, to, 1)), &n); err != nil {
					t.Fatal(err)
				}
				changed = append(changed, n)
			}
			faults := Invalid(changed, Versions[1])
			if c, err := NewCluster(changed); err != nil {
				faults = append(faults, err.Error())
			} else {
				faults = append(faults, c.Faults()...)
			}
			if !slices.ContainsFunc(faults, regexp.MustCompile(want).MatchString) {
				t.Errorf("not found: %q", faults)
			}
		})
	}
	f("a misspelt field", "readinessProbe:", "readynessProbe:", "readynessProbe")
	f("a misspelt field of a custom resource", "jobLabel:", "jobLable:", "jobLable")
	f("a number for a text", "mountPath: /etc/laconic", "mountPath: 7", "mountPath")
	f("a file by subPath", "mountPath: /etc/laconic\n", "mountPath: /etc/laconic\n          subPath: laconic.yaml\n", "no ConfigMap is mounted as a folder")
	f("another ConfigMap", "configMap:\n          name: laconic", "configMap:\n          name: laconik", "no ConfigMap is mounted")
	f("a probe of no port", "path: /readyz\n            port: admin", "path: /readyz\n            port: metrics", "no port metrics")
	f("a service of no port", "targetPort: http", "targetPort: web", "no port web")
	f("a scaler of nothing", "scaleTargetRef:\n    apiVersion: apps/v1\n    kind: Deployment\n    name: laconic", "scaleTargetRef:\n    apiVersion: apps/v1\n    kind: Deployment\n    name: proxy", "no Deployment proxy")
	f("replicas beside a scaler", "revisionHistoryLimit: 3\n  selector:\n    matchLabels:\n      app.kubernetes.io/component: proxy", "replicas: 2\n  selector:\n    matchLabels:\n      app.kubernetes.io/component: proxy", "has replicas")
	f("a grace period that is too short", "terminationGracePeriodSeconds: 320", "terminationGracePeriodSeconds: 30", "limits.drain .10s., limits.shutdown .5m.")
	f("a longer shutdown", "shutdown: 5m", "shutdown: 15m", "limits.shutdown .15m.")
	f("a root user", "runAsUser: 65532", "runAsUser: 0", "restricted standard")
	f("no seccomp", "type: RuntimeDefault", "type: Unconfined", "restricted standard")
	f("an image that can be written to", "readOnlyRootFilesystem: true", "readOnlyRootFilesystem: false", "may write")
	f("too little memory", "memory: 1Gi", "memory: 768Mi", "too little")
	f("a port of loopback", `listen: ":7280"`, "listen: 127.0.0.1:7280", "where the proxy listens")
	f("a monitor without the token", "key: LACONIC_ADMIN_TOKEN", "key: TOKEN", "not the admin_token")
	f("a way to nowhere", "port: 6379\n      protocol: TCP\n    to", "port: 6380\n      protocol: TCP\n    to", "no port 6380")
	f("a store that nobody serves", "redis://laconic-redis:6379", "redis://redis:6379", "no Service for the store")
	f("a store without its password", "password: ${LACONIC_STORE_PASSWORD}", "ttl: 24h", "does not ask for the password")
	f("a password of another name", "key: LACONIC_STORE_PASSWORD", "key: PASSWORD", "does not ask for the password")
	f("a Redis that asks for none", "requirepass $REDISCLI_AUTH\n", "", "does not ask for the password")
	f("a password in the arguments", "- --save", "- --requirepass\n        - $(REDISCLI_AUTH)\n        - --save", "shows its password")
	f("a password in the arguments of what a script starts", "\"$@\" -", "\"$@\" --requirepass \"$REDISCLI_AUTH\" -", "shows its password")
	f("two stores during an update", "type: Recreate", "type: RollingUpdate", "two stores")
	f("a budget that blocks drains", "maxUnavailable: 1\n  selector", "maxUnavailable: 0\n  selector", "no node can be drained")
	f("a budget of no pods", "maxUnavailable: 1\n  selector", "maxUnavailable: 0%\n  selector", "no node can be drained")
	f("a budget that needs all pods", "maxUnavailable: 1\n  selector", "minAvailable: 2\n  selector", "no node can be drained")
	f("a monitor that may not come in", "port: admin\n      protocol: TCP", "port: http\n      protocol: TCP", "nobody in to the port admin")
	f("a limit of the CPU", "limits:\n            memory: 1Gi", "limits:\n            cpu: 500m\n            memory: 1Gi", "a limit of the CPU")
	f("more at least than at most", "minReplicas: 2", "minReplicas: 20", "more than the most")
	f("a drain that is over before a probe fails", "drain: 10s", "drain: 6s", "limits.drain .6s. is over before")
	f("a probe that takes its time", "path: /readyz\n            port: admin\n          periodSeconds: 2", "path: /readyz\n            port: admin\n          periodSeconds: 5", "is over before")
	f("an upstream in the cluster", "upstream: https://api.openai.com/v1", "upstream: http://vllm.models.svc:8000/v1", "lets nobody go to the upstream")
	f("an upstream on another port", "upstream: https://api.openai.com/v1", "upstream: https://vllm.example:8443/v1", "lets nobody go to the upstream")
	f("everybody may come", "- from:\n    - namespaceSelector: {}\n    ports", "- ports", "lets everybody in")
}

// The adapter's rule makes the metric that the autoscaler asks for.
func TestTheAdapterServesTheMetric(t *testing.T) {
	rules, err := os.ReadFile(filepath.Join(manifests, "prometheus-adapter.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	metrics := scaledBy(t)
	if len(metrics) != 1 {
		t.Fatalf("scaled by %q", metrics)
	}
	for _, want := range []string{"seriesQuery: '" + metrics[0] + "{", "name: {as: " + metrics[0] + "}"} {
		if !strings.Contains(string(rules), want) {
			t.Errorf("no %s", want)
		}
	}
}

// scaledBy returns the metrics of ours that the autoscaler reads.
func scaledBy(t *testing.T) (metrics []string) {
	for _, s := range cluster(t, kustomized(t, "overlays/all")).Scalers {
		for _, m := range s.Spec.Metrics {
			if m.Pods != nil {
				metrics = append(metrics, m.Pods.Metric.Name)
			}
		}
	}
	return metrics
}
