package render

import (
	"fmt"

	"github.com/yannh/kubeconform/pkg/resource"
	"github.com/yannh/kubeconform/pkg/validator"
	"sigs.k8s.io/yaml"
)

// Versions are the releases of Kubernetes that objects are checked against: the oldest
// that the chart takes, and the newest.
var Versions = []string{"1.30.14", "1.37.2"}

// Invalid returns what a version of Kubernetes would not take of the objects, by the
// schemas in the folder of that name. A field that nobody knows is wrong, too.
func Invalid(objects []Object, version string) (faults []string) {
	file := "{{.ResourceKind}}{{.KindSuffix}}.json"
	v, err := validator.New([]string{"schemas/{{.NormalizedKubernetesVersion}}/" + file, "schemas/prometheus-operator/" + file},
		validator.Opts{Strict: true, KubernetesVersion: version})
	if err != nil {
		return []string{err.Error()}
	}
	for _, o := range objects {
		text, err := yaml.Marshal(o)
		if err != nil {
			return []string{err.Error()}
		}
		result := v.ValidateResource(resource.Resource{Path: o.Kind() + "/" + o.Name(), Bytes: text})
		if result.Status != validator.Valid {
			faults = append(faults, fmt.Sprintf("%s %s: Kubernetes %s: %v", o.Kind(), o.Name(), version, result.Err))
		}
	}
	return faults
}
