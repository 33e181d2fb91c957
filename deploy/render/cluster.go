package render

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	security "k8s.io/pod-security-admission/api"
	standards "k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/yaml"
)

// Cluster is what objects are to each other once they are applied.
type Cluster struct {
	Deployments []apps.Deployment
	Services    []core.Service
	Configs     []core.ConfigMap
	Budgets     []policy.PodDisruptionBudget
	Scalers     []autoscaling.HorizontalPodAutoscaler
	Networks    []networking.NetworkPolicy
	Monitors    []Monitor

	faults []string
}

// Monitor is what a ServiceMonitor of the Prometheus operator says, as far as it is
// used.
type Monitor struct {
	meta.ObjectMeta `json:"metadata"`
	Spec            struct {
		Selector  meta.LabelSelector
		JobLabel  string
		Endpoints []struct {
			Port, Path, Interval string
			Authorization        struct{ Credentials core.SecretKeySelector }
		}
	}
}

// Proxy is the configuration's part that objects must agree with.
type Proxy struct {
	Listen, Admin string
	Upstream      string
	Store         struct{ URL, Password string }
	Limits        struct{ Memory, Drain, Shutdown string }
}

// NewCluster reads the objects.
func NewCluster(objects []Object) (*Cluster, error) {
	c := &Cluster{}
	for _, o := range objects {
		var err error
		switch o.Kind() {
		case "Deployment":
			err = into(&c.Deployments, o)
		case "Service":
			err = into(&c.Services, o)
		case "ConfigMap":
			err = into(&c.Configs, o)
		case "PodDisruptionBudget":
			err = into(&c.Budgets, o)
		case "HorizontalPodAutoscaler":
			err = into(&c.Scalers, o)
		case "NetworkPolicy":
			err = into(&c.Networks, o)
		case "ServiceMonitor":
			err = into(&c.Monitors, o)
		default:
			err = fmt.Errorf("nobody checks a %s", o.Kind())
		}
		if err != nil {
			return nil, fmt.Errorf("%s %s: %w", o.Kind(), o.Name(), err)
		}
	}
	return c, nil
}

func into[T any](list *[]T, o Object) error {
	text, err := yaml.Marshal(o)
	if err != nil {
		return err
	}
	var v T
	if err := yaml.Unmarshal(text, &v); err != nil {
		return err
	}
	*list = append(*list, v)
	return nil
}

func (c *Cluster) fault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

// Faults returns what would not work: names that lead nowhere, selectors that find no
// pod, pods that a namespace under the restricted standard refuses, and numbers that do
// not go with the configuration.
func (c *Cluster) Faults() []string {
	c.faults = nil
	for _, d := range c.Deployments {
		c.deployment(&d)
	}
	for _, s := range c.Services {
		for _, d := range c.selected("Service "+s.Name, s.Spec.Selector) {
			for _, p := range s.Spec.Ports {
				c.port("Service "+s.Name, d, p.TargetPort)
			}
		}
	}
	for _, b := range c.Budgets {
		c.budget(&b)
	}
	for _, s := range c.Scalers {
		if least(&s) > s.Spec.MaxReplicas {
			c.fault("HorizontalPodAutoscaler %s: the least, %d pods, is more than the most, %d", s.Name, least(&s), s.Spec.MaxReplicas)
		}
		at := slices.IndexFunc(c.Deployments, func(d apps.Deployment) bool {
			return s.Spec.ScaleTargetRef.Kind == "Deployment" && d.Name == s.Spec.ScaleTargetRef.Name
		})
		if at < 0 {
			c.fault("HorizontalPodAutoscaler %s: there is no %s %s", s.Name, s.Spec.ScaleTargetRef.Kind, s.Spec.ScaleTargetRef.Name)
		} else if c.Deployments[at].Spec.Replicas != nil {
			c.fault("Deployment %s has replicas, which an apply sets back from what the autoscaler chose", s.Spec.ScaleTargetRef.Name)
		}
	}
	for _, n := range c.Networks {
		c.network(&n)
	}
	for _, m := range c.Monitors {
		c.monitor(&m)
	}
	return c.faults
}

// selected returns the deployments whose pods have these labels.
func (c *Cluster) selected(who string, want map[string]string) (found []apps.Deployment) {
	for _, d := range c.Deployments {
		if len(want) > 0 && labels.SelectorFromSet(want).Matches(labels.Set(d.Spec.Template.Labels)) {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		c.fault("%s selects the pods of %d deployments", who, len(found))
	}
	return found
}

// least returns how many pods there are at night.
func least(s *autoscaling.HorizontalPodAutoscaler) int32 {
	if s.Spec.MinReplicas == nil {
		return 1
	}
	return *s.Spec.MinReplicas
}

// budget reports a budget that lets no pod be evicted when there are as few of them as
// may be: a node that has one could not be drained.
func (c *Cluster) budget(b *policy.PodDisruptionBudget) {
	who := "PodDisruptionBudget " + b.Name
	for _, d := range c.selected(who, b.Spec.Selector.MatchLabels) {
		pods := 1
		for _, s := range c.Scalers {
			if s.Spec.ScaleTargetRef.Name == d.Name {
				pods = int(least(&s))
			}
		}
		may := 0
		if most := b.Spec.MaxUnavailable; most != nil {
			may, _ = intstr.GetScaledValueFromIntOrPercent(most, pods, true)
		} else if need := b.Spec.MinAvailable; need != nil {
			n, _ := intstr.GetScaledValueFromIntOrPercent(need, pods, true)
			may = pods - n
		}
		if may < 1 {
			c.fault("%s lets none of %d pods be evicted, so that no node can be drained", who, pods)
		}
	}
}

// port reports a port that no container of the deployment has.
func (c *Cluster) port(who string, d apps.Deployment, port intstr.IntOrString) {
	for _, k := range d.Spec.Template.Spec.Containers {
		for _, p := range k.Ports {
			if port.Type == intstr.String && p.Name == port.StrVal || port.Type == intstr.Int && p.ContainerPort == port.IntVal {
				return
			}
		}
	}
	c.fault("%s: the pods of %s have no port %s", who, d.Name, port.String())
}

// Probes returns the probes of a container.
func Probes(k *core.Container) map[string]*core.Probe {
	return map[string]*core.Probe{"startup": k.StartupProbe, "readiness": k.ReadinessProbe, "liveness": k.LivenessProbe}
}

func (c *Cluster) deployment(d *apps.Deployment) {
	who, pod := "Deployment "+d.Name, &d.Spec.Template.Spec
	c.selected(who, d.Spec.Selector.MatchLabels)
	for _, s := range pod.TopologySpreadConstraints {
		c.selected(who+", topology spread", s.LabelSelector.MatchLabels)
	}
	evaluator, err := standards.NewEvaluator(standards.DefaultChecks(), nil)
	if err != nil {
		c.fault("%v", err)
		return
	}
	restricted := security.LevelVersion{Level: security.LevelRestricted, Version: security.LatestVersion()}
	for _, r := range evaluator.EvaluatePod(restricted, &d.Spec.Template.ObjectMeta, pod) {
		if !r.Allowed {
			c.fault("%s: the restricted standard: %s: %s", who, r.ForbiddenReason, r.ForbiddenDetail)
		}
	}
	for _, k := range pod.Containers {
		if k.SecurityContext == nil || k.SecurityContext.ReadOnlyRootFilesystem == nil || !*k.SecurityContext.ReadOnlyRootFilesystem {
			c.fault("%s: %s may write to its image", who, k.Name)
		}
		for name, p := range Probes(&k) {
			switch {
			case p == nil:
				c.fault("%s: there is no %s probe", who, name)
			case p.HTTPGet != nil:
				c.port(who+", "+name+" probe", *d, p.HTTPGet.Port)
			case p.TCPSocket != nil:
				c.port(who+", "+name+" probe", *d, p.TCPSocket.Port)
			}
		}
		if k.Name == "laconic" {
			c.proxy(who, pod, &k)
		}
	}
}

// proxy compares a pod of the proxy with its configuration.
func (c *Cluster) proxy(who string, pod *core.PodSpec, k *core.Container) {
	at, text := c.Configuration(pod, k)
	if at == "" {
		c.fault("%s: no ConfigMap is mounted as a folder where %q say that the configuration is", who, k.Args)
		return
	}
	var p Proxy
	if err := yaml.Unmarshal([]byte(text), &p); err != nil {
		c.fault("%s: %v", who, err)
		return
	}
	for name, address := range map[string]string{"http": p.Listen, "admin": p.Admin} {
		i := slices.IndexFunc(k.Ports, func(p core.ContainerPort) bool { return p.Name == name })
		if i < 0 || address != fmt.Sprintf(":%d", k.Ports[i].ContainerPort) {
			c.fault("%s: the port %s is not %s, where the proxy listens for all addresses", who, name, address)
		}
	}
	drain, err := time.ParseDuration(p.Limits.Drain)
	shutdown, failed := time.ParseDuration(p.Limits.Shutdown)
	if g := pod.TerminationGracePeriodSeconds; err != nil || failed != nil || g == nil || *g != int64((drain+shutdown).Seconds())+10 {
		c.fault("%s: terminationGracePeriodSeconds is not limits.drain (%s), limits.shutdown (%s) and 10 s", who, p.Limits.Drain, p.Limits.Shutdown)
	}
	// A pod that ends and is not deleted, say because its container is restarted, is in
	// its Service until the probe has failed.
	if p := k.ReadinessProbe; p != nil && drain <= time.Duration(p.PeriodSeconds*p.FailureThreshold+p.TimeoutSeconds)*time.Second {
		c.fault("%s: limits.drain (%v) is over before the readiness probe has failed", who, drain)
	}
	if k.Lifecycle != nil {
		c.fault("%s: the time of a preStop hook is taken from terminationGracePeriodSeconds; limits.drain is what waits", who)
	}
	// As the proxy sets its own limit, and a tenth for what no collector counts.
	bodies, err := mebibytes(p.Limits.Memory)
	if limit := k.Resources.Limits.Memory().Value() >> 20; err != nil || limit*10 < (bodies*6/5+128)*11 {
		c.fault("%s: a memory limit of %d MiB is too little for limits.memory: %s", who, limit, p.Limits.Memory)
	}
	if k.Resources.Limits.Cpu().Value() > 0 {
		c.fault("%s: a limit of the CPU stops all streams for moments", who)
	}
	c.upstream(who, p.Upstream)
	if p.Store.URL != "" {
		c.store(who, &p)
	}
}

// upstream reports an upstream that no NetworkPolicy lets the pods go to.
func (c *Cluster) upstream(who, address string) {
	u, err := url.Parse(address)
	if err != nil {
		c.fault("%s: %v", who, err)
		return
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	_, namespace, _ := strings.Cut(strings.TrimSuffix(strings.TrimSuffix(u.Hostname(), ".cluster.local"), ".svc"), ".")
	inside := strings.HasSuffix(u.Hostname(), ".svc") || strings.HasSuffix(u.Hostname(), ".svc.cluster.local")
	for _, n := range c.Networks {
		for _, rule := range n.Spec.Egress {
			if !slices.ContainsFunc(rule.Ports, func(p networking.NetworkPolicyPort) bool { return p.Port.String() == port }) {
				continue
			}
			for _, to := range rule.To {
				if !inside && to.IPBlock != nil || to.NamespaceSelector != nil && to.NamespaceSelector.MatchLabels[core.LabelMetadataName] == namespace {
					return
				}
			}
		}
	}
	c.fault("%s: the NetworkPolicy lets nobody go to the upstream %s", who, address)
}

// store reports a store that is nobody's Service, or whose server does not ask for
// the password that the proxy gives, by a variable of the Secret.
func (c *Cluster) store(who string, p *Proxy) {
	host, port, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(p.Store.URL, "redis://"), "/0"), ":")
	at := slices.IndexFunc(c.Services, func(s core.Service) bool {
		return s.Name == host && fmt.Sprint(s.Spec.Ports[0].Port) == port
	})
	if at < 0 {
		c.fault("%s: there is no Service for the store %s", who, p.Store.URL)
		return
	}
	for _, d := range c.selected("Service "+host, c.Services[at].Spec.Selector) {
		k := &d.Spec.Template.Spec.Containers[0]
		if !slices.ContainsFunc(k.Env, func(e core.EnvVar) bool {
			asked := slices.ContainsFunc(k.Args, func(a string) bool { return strings.Contains(a, "\nrequirepass $"+e.Name+"\n") })
			return asked && e.ValueFrom != nil && e.ValueFrom.SecretKeyRef != nil && p.Store.Password == "${"+e.ValueFrom.SecretKeyRef.Key+"}"
		}) {
			c.fault("Deployment %s does not ask for the password %q that the proxy gives", d.Name, p.Store.Password)
		}
		if d.Spec.Strategy.Type != apps.RecreateDeploymentStrategyType {
			c.fault("Deployment %s would run two stores for the time of an update", d.Name)
		}
		if strings.Contains(strings.Join(k.Args, " "), "--requirepass") {
			c.fault("Deployment %s shows its password in its arguments", d.Name)
		}
	}
}

var mebi = regexp.MustCompile(`^([0-9]+)MiB$`)

func mebibytes(text string) (n int64, err error) {
	m := mebi.FindStringSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("%q is no number of MiB", text)
	}
	_, err = fmt.Sscan(m[1], &n)
	return n, err
}

// Configuration returns the folder where a container finds its configuration, or "",
// and its text. A file that is mounted alone has no folder: its changes would never
// arrive.
func (c *Cluster) Configuration(pod *core.PodSpec, k *core.Container) (folder, text string) {
	i := slices.Index(k.Args, "--config")
	if i < 0 || i+1 == len(k.Args) {
		return "", ""
	}
	folder = path.Dir(k.Args[i+1])
	for _, m := range k.VolumeMounts {
		if m.MountPath != folder || m.SubPath != "" || m.SubPathExpr != "" || !m.ReadOnly {
			continue
		}
		for _, v := range pod.Volumes {
			if v.Name != m.Name || v.ConfigMap == nil {
				continue
			}
			for _, config := range c.Configs {
				if text, ok := config.Data[path.Base(k.Args[i+1])]; ok && config.Name == v.ConfigMap.Name {
					return folder, text
				}
			}
		}
	}
	return "", ""
}

// lets reports whether anybody may come to a port.
func lets(n *networking.NetworkPolicy, port string) bool {
	return slices.ContainsFunc(n.Spec.Ingress, func(rule networking.NetworkPolicyIngressRule) bool {
		return slices.ContainsFunc(rule.Ports, func(p networking.NetworkPolicyPort) bool { return p.Port.StrVal == port })
	})
}

func (c *Cluster) network(n *networking.NetworkPolicy) {
	who := "NetworkPolicy " + n.Name
	if !slices.Contains(n.Spec.PolicyTypes, networking.PolicyTypeIngress) || !slices.Contains(n.Spec.PolicyTypes, networking.PolicyTypeEgress) {
		c.fault("%s leaves a direction open", who)
	}
	for _, d := range c.selected(who, n.Spec.PodSelector.MatchLabels) {
		for _, rule := range n.Spec.Ingress {
			for _, p := range rule.Ports {
				c.port(who, d, *p.Port)
			}
		}
		for _, k := range d.Spec.Template.Spec.Containers {
			for _, p := range k.Ports {
				if !lets(n, p.Name) {
					c.fault("%s lets nobody in to the port %s", who, p.Name)
				}
			}
		}
	}
	for _, rule := range n.Spec.Ingress {
		if len(rule.From) == 0 || len(rule.Ports) == 0 {
			c.fault("%s lets everybody in", who)
		}
		for _, peer := range rule.From {
			if peer.NamespaceSelector == nil && peer.PodSelector != nil {
				c.selected(who, peer.PodSelector.MatchLabels)
			}
		}
	}
	for _, rule := range n.Spec.Egress {
		if len(rule.To) == 0 || len(rule.Ports) == 0 {
			c.fault("%s lets it go anywhere", who)
		}
		for _, peer := range rule.To {
			if peer.NamespaceSelector != nil || peer.PodSelector == nil {
				continue
			}
			for _, d := range c.selected(who, peer.PodSelector.MatchLabels) {
				for _, p := range rule.Ports {
					c.port(who, d, *p.Port)
				}
			}
		}
	}
}

func (c *Cluster) monitor(m *Monitor) {
	who := "ServiceMonitor " + m.Name
	for _, e := range m.Spec.Endpoints {
		found := 0
		for _, s := range c.Services {
			if labels.SelectorFromSet(m.Spec.Selector.MatchLabels).Matches(labels.Set(s.Labels)) &&
				slices.ContainsFunc(s.Spec.Ports, func(p core.ServicePort) bool { return p.Name == e.Port }) {
				found++
				if job := s.Labels[m.Spec.JobLabel]; job != "laconic" {
					c.fault("%s: the job is %q, and alert rules ask for laconic", who, job)
				}
			}
		}
		if found != 1 {
			c.fault("%s finds %d services with a port %s", who, found, e.Port)
		}
		secret, key := e.Authorization.Credentials.Name, e.Authorization.Credentials.Key
		if !slices.ContainsFunc(c.Deployments, func(d apps.Deployment) bool {
			k := &d.Spec.Template.Spec.Containers[0]
			_, text := c.Configuration(&d.Spec.Template.Spec, k)
			return len(k.EnvFrom) == 1 && k.EnvFrom[0].SecretRef.Name == secret && strings.Contains(text, "admin_token: ${"+key+"}")
		}) {
			c.fault("%s: %s of the Secret %s is not the admin_token", who, key, secret)
		}
	}
}
