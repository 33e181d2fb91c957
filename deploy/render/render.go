// Package render renders what the deploy folder has for Kubernetes, the kustomizations
// and the chart, and its tests hold both to what a cluster and the proxy make of them.
// It is a module of its own: the proxy depends on none of what it takes.
package render

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// A Namespace is where examples install it, and a Release what they call it.
const (
	Namespace = "agents"
	Release   = "laconic"
)

// Object is an object of Kubernetes as it is written.
type Object map[string]any

// Kind and Name say which it is.
func (o Object) Kind() string { s, _ := o["kind"].(string); return s }

// Name is the object's name.
func (o Object) Name() string {
	meta, _ := o["metadata"].(map[string]any)
	s, _ := meta["name"].(string)
	return s
}

// Kustomization returns the objects of a folder with a kustomization.yaml, by kind and
// name.
func Kustomization(folder string) ([]Object, error) {
	all, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), folder)
	if err != nil {
		return nil, err
	}
	text, err := all.AsYaml()
	if err != nil {
		return nil, err
	}
	return parse(text)
}

// Chart returns the objects of a chart with these values, by kind and name, and its
// notes. An error may be one of values.schema.json.
func Chart(folder, values string) (objects []Object, notes string, err error) {
	files, err := Files(folder, values)
	if err != nil {
		return nil, "", err
	}
	var text bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(files)) {
		switch {
		case strings.HasSuffix(name, "NOTES.txt"):
			notes = files[name]
		case strings.HasSuffix(name, ".yaml"):
			fmt.Fprintf(&text, "---\n%s\n", files[name])
		}
	}
	objects, err = parse(text.Bytes())
	return objects, notes, err
}

// Files returns what helm template writes of a chart with these values, by the paths of
// its templates.
func Files(folder, values string) (map[string]string, error) {
	chart, err := loader.Load(folder)
	if err != nil {
		return nil, err
	}
	given := map[string]any{}
	if err := yaml.Unmarshal([]byte(values), &given); err != nil {
		return nil, err
	}
	of := common.ReleaseOptions{Name: Release, Namespace: Namespace, IsInstall: true, Revision: 1}
	with, err := util.ToRenderValues(chart, given, of, common.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Engine{Strict: true}.Render(chart, with)
}

// parse reads the documents of a text. A key that stands twice is an error.
func parse(text []byte) (objects []Object, err error) {
	for _, doc := range strings.Split("\n"+string(text), "\n---\n") {
		var o Object
		if err := yaml.UnmarshalStrict([]byte(doc), &o); err != nil {
			return nil, fmt.Errorf("%w in\n%s", err, doc)
		}
		if o != nil {
			objects = append(objects, o)
		}
	}
	if len(objects) == 0 {
		return nil, errors.New("nothing is rendered")
	}
	slices.SortFunc(objects, func(a, b Object) int {
		return strings.Compare(a.Kind()+"/"+a.Name(), b.Kind()+"/"+b.Name())
	})
	return objects, nil
}
