package deploy

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"laconic/e2e/rig"

	"laconic/store/storetest"
)

const chart = "../../deploy/chart"

// tool returns the path of a program that `make deploy` has built.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("../..", ".tools", name))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		rig.Missing(t, name+" (make deploy)")
	}
	return path
}

// helm runs helm template with these values, and returns what it writes to its two ends.
func helm(t *testing.T, values string, args ...string) (text, says string) {
	t.Helper()
	cmd := exec.Command(tool(t, "helm"), append([]string{"template", "laconic", chart, "-n", "agents", "-f", "-"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(values), &out, &errs
	if err := cmd.Run(); err == nil {
		return out.String(), ""
	}
	return "", errs.String()
}

// rendered returns the chart with values that it takes.
func rendered(t *testing.T, values string, args ...string) string {
	t.Helper()
	text, says := helm(t, values, args...)
	if says != "" {
		t.Fatalf("%s: %s", values, says)
	}
	return text
}

// invalid returns what Kubernetes and the operator of Prometheus would not take, by
// their own schemas.
func invalid(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "all.yaml")
	rig.WriteFile(t, file, text)
	out, err := exec.Command(tool(t, "kubectl-validate"), file, "--version", "1.30", "--local-crds", tool(t, "crds")).CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

// allOn turns on all that the chart has.
const allOn = "{redis: {enabled: true}, serviceMonitor: {enabled: true}, autoscaling: {requests: 500}, " +
	"prometheusRule: {enabled: true}, dashboard: {enabled: true}, ingress: {enabled: true, host: llm.example}}"

// every is a set of values that change where each of them arrives.
const every = `
image: {repository: registry.example/laconic, tag: v1}
config:
  upstream: http://vllm.models:8000/v1
  limits: {drain: 20s, shutdown: 2m}
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
networkPolicy: {more: [{to: [{ipBlock: {cidr: 10.1.2.3/32}}], ports: [{port: 6379, protocol: TCP}]}]}
serviceMonitor: {enabled: true, labels: {release: stack}}
prometheusRule: {enabled: true, labels: {release: stack}}
dashboard: {enabled: true, labels: {grafana_dashboard: "yes"}, annotations: {grafana_folder: Agents}}
ingress: {enabled: true, class: nginx, host: llm.example, tls: llm-cert, annotations: {team: platform}}
`

func kubernetesManual(t *testing.T) string {
	t.Helper()
	text := rig.ReadFile(t, "../../docs/kubernetes.md")
	return string(text)
}

// block returns what a block of the manual has below its first line.
func block(t *testing.T, first string) string {
	t.Helper()
	_, text, found := strings.Cut(kubernetesManual(t), first)
	text, _, ended := strings.Cut(text, "```")
	if !found || !ended {
		t.Fatalf("the manual has no %q", first)
	}
	return text
}

// manualsKeys returns the keys of the Secret that the manual makes.
func manualsKeys(t *testing.T) (keys []string) {
	for _, m := range regexp.MustCompile(`--from-literal=([A-Z_]+)=`).FindAllStringSubmatch(kubernetesManual(t), -1) {
		keys = append(keys, m[1])
	}
	return keys
}

const secretValue = "a-token-of-the-test-0123456789"

// inPod returns laconic with what the Secret puts into its environment.
func inPod(t *testing.T, args ...string) *exec.Cmd {
	cmd := exec.Command(rig.Command(t), args...)
	for _, key := range manualsKeys(t) {
		cmd.Env = append(cmd.Env, key+"="+secretValue)
	}
	return cmd
}

// saysOf returns what laconic check says of a configuration; "": nothing.
func saysOf(t *testing.T, config string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "laconic.yaml")
	rig.WriteFile(t, file, config)
	if out, err := inPod(t, "check", file).CombinedOutput(); err != nil {
		return string(out)
	}
	return ""
}

func TestChart(t *testing.T) {
	if out, err := exec.Command(tool(t, "helm"), "lint", "--strict", chart).CombinedOutput(); err != nil {
		t.Errorf("%s", out)
	}
	for name, values := range map[string]string{"as it is": "", "all on": allOn, "every value": every, "vllm": "example"} {
		t.Run(name, func(t *testing.T) {
			var args []string
			if values == "example" {
				values, args = "", []string{"-f", filepath.Join(chart, "examples/vllm.yaml")}
			}
			text := rendered(t, values, args...)
			if says := invalid(t, text); says != "" {
				t.Error(says)
			}
			all := parseObjects(t, text)
			for _, fault := range all.faults(manualsKeys(t)) {
				t.Error(fault)
			}
			if says := saysOf(t, all.configuration(all.named("Deployment", "laconic"))); says != "" {
				t.Error(says)
			}
			if values == every {
				everyArrives(t, all)
			}
		})
	}
}

func everyArrives(t *testing.T, all objects) {
	f := func(kind, name, path, want string) {
		t.Helper()
		if got := all.named(kind, name).Get(path).String(); !strings.Contains(got, want) {
			t.Errorf("%s %s: %s is %s", kind, name, path, got)
		}
	}
	pod := podSpec + "@this"
	f("Deployment", "laconic", podSpec+"terminationGracePeriodSeconds", "150")
	for _, want := range []string{"registry.example/laconic:v1", `"affinity":{"nodeAffinity"`, "/etc/redis", "redis-ca"} {
		f("Deployment", "laconic", pod, want)
	}
	for _, name := range []string{"laconic", "laconic-redis"} {
		for _, want := range []string{`[{"name":"registry"}]`, `{"pool":"agents"}`, `"tolerations":[{"key":"agents"`} {
			f("Deployment", name, pod, want)
		}
	}
	f("Deployment", "laconic", "spec.template.metadata.annotations", "platform")
	f("HorizontalPodAutoscaler", "laconic", "spec.minReplicas", "3")
	f("Service", "laconic", "spec.type", "LoadBalancer")
	f("Service", "laconic", "metadata.annotations", "internal")
	f("ServiceMonitor", "laconic", "metadata.labels", "stack")
	f("PrometheusRule", "laconic", "metadata.labels", "stack")
	f("ConfigMap", "laconic-dashboard", "metadata.labels", `"grafana_dashboard":"yes"`)
	f("ConfigMap", "laconic-dashboard", "metadata.annotations", "Agents")
	f("Ingress", "laconic", "metadata.annotations", "platform")
	f("Ingress", "laconic", "metadata.annotations", `proxy-buffering":"off"`)
	f("Ingress", "laconic", "spec.ingressClassName", "nginx")
	f("Ingress", "laconic", "spec.tls.0.hosts.0", "llm.example")
	f("Ingress", "laconic", "spec.tls.0.secretName", "llm-cert")
	for _, want := range []string{"ttl: 24h", "url: redis://laconic-redis:6379/0", "memory: 512MiB", "vllm.models"} {
		f("ConfigMap", "laconic", "data", want)
	}
	for _, want := range []string{`"port":53`, `"port":443`, "10.1.2.3/32"} { // nothing is taken away
		f("NetworkPolicy", "laconic", "spec.egress", want)
	}
}

// A chart takes files of its own folder alone, so that it has copies: they are those of deploy,
// and arrive whole.
func TestTheChartHasTheRulesAndTheDashboard(t *testing.T) {
	files := map[string]string{}
	for _, name := range []string{"alerts.yaml", "grafana.json"} {
		want := rig.ReadFile(t, filepath.Join("../../deploy", name))
		got, err := os.ReadFile(filepath.Join(chart, "files", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("the chart's %s is not that of deploy (make golden copies it): %v", name, err)
		}
		files[name] = string(want)
	}
	all := parseObjects(t, rendered(t, allOn))
	if got := all.named("ConfigMap", "laconic-dashboard").Get("data").Map()["laconic.json"].Str; strings.TrimSpace(got) != strings.TrimSpace(files["grafana.json"]) {
		t.Error("the dashboard did not arrive whole")
	}
	want := parseObjects(t, files["alerts.yaml"])[0].Get("groups").Raw
	if got := all.named("PrometheusRule", "laconic").Get("spec.groups").Raw; got != want {
		t.Errorf("the rules did not arrive whole: %s", got)
	}
}

// A value that nobody reads is a mistake that nobody would see.
func TestTheChartRefusesValues(t *testing.T) {
	for values, want := range map[string]string{
		"relicas: 3":                                                  "relicas",
		"image: {tagg: v1}":                                           "tagg",
		"config: {limits: {shutdown: 1h30m}}":                         "shutdown",
		"config: {listen: '127.0.0.1:7280'}":                          "listen",
		"config: {admin: '[::1]:7281'}":                               "admin",
		"config: {listen: '[::]:7280'}":                               "",
		"config: {limits: {drain: 6s}}":                               "more than 6s",
		"config: {limits: {drain: 1m}}":                               "",
		"config: {limits: {memory: 1GiB}}":                            "1492Mi or more",
		"resources: {limits: {memory: 816Mi}}":                        "817Mi or more",
		"resources: {limits: {memory: 817Mi}}":                        "",
		"resources: {limits: {memory: 1G}}":                           "whole Mi or Gi",
		"resources: {limits: null}":                                   "",
		"autoscaling: {min: 5, max: 2}":                               "autoscaling.min",
		"autoscaling: {min: 3, max: 3}":                               "",
		"secret: ends-with-":                                          "secret",
		"service: {type: ExternalName}":                               "service",
		"extraVolumes: [{name: config}]":                              "extraVolumes",
		"config: {admin_token: secret-in-a-git-repo}":                 "admin_token",
		"ingress: {enabled: true}":                                    "host",
		"ingress: {enabled: false}":                                   "",
		"networkPolicy: {clients: []}":                                "clients",
		"extraVolumeMounts: [{name: ca, mountPath: /etc/laconic/ca}]": "extraVolumeMounts",
	} {
		if _, says := helm(t, values); (says == "") != (want == "") || !strings.Contains(says, want) {
			t.Errorf("%s: %s", values, says)
		}
	}
}

// What the manual says to type before a configuration is changed is run as it stands.
func TestTheManualsCheck(t *testing.T) {
	script := block(t, "```sh\n# This is the file")
	for upstream, says := range map[string]string{"https://mine.example/v1": "https://mine.example/v1", "ftp://mine.example": "upstream must be a URL that begins with"} {
		dir := t.TempDir()
		rig.WriteFile(t, filepath.Join(dir, "mine.yaml"), "{redis: {enabled: true}, config: {upstream: '"+upstream+"'}}")
		root, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(filepath.Join(root, "deploy"), filepath.Join(dir, "deploy")); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("sh", "-c", "helm() { '"+tool(t, "helm")+"' \"$@\"; }; laconic() { '"+rig.Command(t)+"' \"$@\"; }\n#"+script)
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		if out, err := cmd.CombinedOutput(); (err == nil) != (says == upstream) || !strings.Contains(string(out), says) {
			t.Errorf("%s: %v %s", upstream, err, out)
		}
	}
}

// The manual's values for a Redis of one's own make a chart that works.
func TestTheManualsVolume(t *testing.T) {
	text := rendered(t, "extraVolumes:"+block(t, "```yaml\nextraVolumes:"))
	if says := invalid(t, text); says != "" {
		t.Error(says)
	}
	all := parseObjects(t, text)
	if says := saysOf(t, all.configuration(all.named("Deployment", "laconic"))); !strings.Contains(says, "store.tls: ca cannot be read") || !strings.Contains(says, "1 problem\n") {
		t.Errorf("more is wrong than that the file is not here: %s", says)
	}
}

// The program takes the pod's arguments, its probes need no token and Prometheus' is the
// Secret's, and there is the metric that the autoscaler and its adapter read.
func TestAPodOfTheChart(t *testing.T) {
	all := parseObjects(t, rendered(t, "{serviceMonitor: {enabled: true}, autoscaling: {requests: 500}}"))
	d, dir := all.named("Deployment", "laconic"), t.TempDir()
	rig.WriteFile(t, filepath.Join(dir, "laconic.yaml"), all.configuration(d))
	args := []string{"--admin", "127.0.0.1:0"}
	for _, a := range d.Get(podSpec + "containers.0.args").Array()[1:] { // serve
		args = append(args, strings.Replace(a.Str, "/etc/laconic", dir, 1))
	}
	p := rig.Launch(t, dir, inPod(t).Env, append(args, "--listen", "127.0.0.1:0")...)
	defer p.Stop(t)
	for _, probe := range []string{"startupProbe", "readinessProbe", "livenessProbe"} {
		path := d.Get(podSpec + "containers.0." + probe + ".httpGet.path").Str
		rig.Eventually(t, probe, func() bool { status, _ := rig.Get(p.Admin + path); return status == 200 })
	}
	path := all.of("ServiceMonitor")[0].Get("spec.endpoints.0.path").Str
	if status, _ := rig.Get(p.Admin + path); status != 401 {
		t.Errorf("%s without the token: %d", path, status)
	}
	_, metrics := rig.Get(p.Admin+path, "Authorization", "Bearer "+secretValue)
	adapter := rig.ReadFile(t, "../../deploy/prometheus-adapter.yaml")
	name := all.of("HorizontalPodAutoscaler")[0].Get("spec.metrics.1.pods.metric.name").Str
	if name == "" || !strings.Contains(metrics, "\n"+name+" ") || !strings.Contains(string(adapter), "seriesQuery: '"+name+"{") ||
		!strings.Contains(string(adapter), "name: {as: "+name+"}") {
		t.Errorf("the autoscaler reads %q", name)
	}
}

// The Redis of the chart, with the arguments of its container, takes the Secret's
// password and no other, its probe sees that, and arguments do not show it.
func TestTheRedisOfTheChart(t *testing.T) {
	rig.Installed(t, "redis-server", "redis-server")
	k := parseObjects(t, rendered(t, allOn)).named("Deployment", "laconic-redis").Get(podSpec + "containers.0")
	address := storetest.FreeAddress(t)
	port := address[strings.LastIndexByte(address, ':')+1:]
	var args []string
	for _, a := range k.Get("args").Array() {
		args = append(args, a.Str)
	}
	server := exec.Command(args[0], append(args[1:], "--port", port, "--bind", "127.0.0.1", "--dir", t.TempDir())...)
	server.Env = append(os.Environ(), k.Get("env.0.name").Str+"="+secretValue)
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Process.Kill(); _ = server.Wait() }()
	probe := func(password string) bool {
		cmd := exec.Command("redis-cli", "-p", port)
		for _, w := range k.Get("readinessProbe.exec.command").Array()[1:] {
			cmd.Args = append(cmd.Args, w.Str)
		}
		cmd.Env = []string{k.Get("env.0.name").Str + "=" + password}
		return cmd.Run() == nil
	}
	rig.Eventually(t, "a probe that succeeds", func() bool { return probe(secretValue) })
	if probe("another") {
		t.Error("a probe with another password succeeds")
	}
	shown, err := exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(server.Process.Pid)).Output()
	if err == nil && (!strings.HasPrefix(string(shown), "redis-server") || strings.Contains(string(shown), secretValue)) {
		t.Errorf("the process is %s", shown)
	}
}
