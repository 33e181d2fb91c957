package render

import (
	"fmt"
	"slices"
	"strings"

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
