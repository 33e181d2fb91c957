// Command vendor_schemas writes the JSON schemas that the manifests are checked
// against: those of the kinds that are used, from the OpenAPI documents of two
// releases of Kubernetes and from the custom resources of the Prometheus operator, as
// the Go module proxy has them. They are strict, so that a field nobody knows is a
// mistake, and have no descriptions.
//
//	go run ./vendor_schemas
package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// releases are the oldest Kubernetes that the chart accepts and the newest.
var releases = []string{"v1.30.14", "v1.37.2"}

// kinds are the kinds of the manifests, by their file in the OpenAPI documents.
var kinds = []struct{ file, schema, as string }{
	{"api__v1", "io.k8s.api.core.v1.ConfigMap", "configmap-v1"},
	{"api__v1", "io.k8s.api.core.v1.Service", "service-v1"},
	{"apis__apps__v1", "io.k8s.api.apps.v1.Deployment", "deployment-apps-v1"},
	{"apis__autoscaling__v2", "io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler", "horizontalpodautoscaler-autoscaling-v2"},
	{"apis__networking.k8s.io__v1", "io.k8s.api.networking.v1.NetworkPolicy", "networkpolicy-networking-v1"},
	{"apis__policy__v1", "io.k8s.api.policy.v1.PodDisruptionBudget", "poddisruptionbudget-policy-v1"},
}

const (
	operator = "v0.85.0" // of github.com/prometheus-operator/prometheus-operator
	monitors = "example/prometheus-operator-crd/monitoring.coreos.com_servicemonitors.yaml"
	prefix   = "#/components/schemas/"
)

type object = map[string]any

func main() {
	for _, release := range releases {
		root := module("k8s.io/kubernetes", release)
		for _, k := range kinds {
			var doc struct {
				Components struct{ Schemas object }
			}
			read(filepath.Join(root, "api/openapi-spec/v3", k.file+"_openapi.json"), &doc)
			defs := object{}
			gather(doc.Components.Schemas, k.schema, defs)
			out := object{"$schema": "http://json-schema.org/draft-07/schema#", "$ref": "#/definitions/" + k.schema, "definitions": defs}
			write(filepath.Join("schemas", release, k.as+".json"), out)
		}
	}
	var crd struct {
		Spec struct {
			Versions []struct {
				Name   string
				Schema struct{ OpenAPIV3Schema object }
			}
		}
	}
	read(filepath.Join(module("github.com/prometheus-operator/prometheus-operator", operator), monitors), &crd)
	for _, v := range crd.Spec.Versions {
		schema := strict(v.Schema.OpenAPIV3Schema).(object)
		schema["$schema"] = "http://json-schema.org/draft-07/schema#"
		// A custom resource's metadata is checked by the server, not by its schema.
		schema["properties"].(object)["metadata"] = object{"type": "object"}
		write(filepath.Join("schemas", "prometheus-operator", "servicemonitor-monitoring-"+v.Name+".json"), schema)
	}
}

// gather puts the schema of that name into defs, and all that it refers to.
func gather(all object, name string, defs object) {
	if defs[name] != nil {
		return
	}
	schema := strict(all[name])
	defs[name] = schema
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case object:
			if ref, ok := v["$ref"].(string); ok {
				to := strings.TrimPrefix(ref, prefix)
				v["$ref"] = "#/definitions/" + to
				gather(all, to, defs)
			}
			for _, part := range v {
				walk(part)
			}
		case []any:
			for _, part := range v {
				walk(part)
			}
		}
	}
	walk(schema)
}

// strict returns the schema without prose and with objects that take no other fields
// than their own.
func strict(v any) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for key, part := range v {
			fields, named := part.(object)
			switch {
			case key == "properties" && named: // whose keys are names of fields
				properties := object{}
				for name, field := range fields {
					properties[name] = strict(field)
				}
				out[key] = properties
			case key == "description", key == "default", strings.HasPrefix(key, "x-"):
			default:
				out[key] = strict(part)
			}
		}
		if out["properties"] != nil && out["additionalProperties"] == nil {
			out["additionalProperties"] = false
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, part := range v {
			out[i] = strict(part)
		}
		return out
	}
	return v
}

// module returns the folder of a module, which the proxy is asked for.
func module(path, version string) string {
	cmd := exec.Command("go", "mod", "download", "-json", path+"@"+version)
	cmd.Dir, cmd.Stderr = os.TempDir(), os.Stderr
	text, err := cmd.Output()
	var m struct{ Dir string }
	if json.Unmarshal(text, &m) != nil || m.Dir == "" {
		fail(fmt.Errorf("%s@%s: %v %s", path, version, err, text))
	}
	return m.Dir
}

func read(file string, into any) {
	text, err := os.ReadFile(file)
	if err == nil {
		err = yaml.Unmarshal(text, into)
	}
	fail(err)
}

func write(file string, schema object) {
	text, err := json.Marshal(schema)
	fail(err)
	fail(os.MkdirAll(filepath.Dir(file), 0o755))
	fail(os.WriteFile(file, append(text, '\n'), 0o644))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
