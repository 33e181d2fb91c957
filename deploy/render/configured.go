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
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	"sigs.k8s.io/yaml"
)

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
