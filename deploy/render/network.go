package render

import (
	"slices"

	networking "k8s.io/api/networking/v1"
)

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
