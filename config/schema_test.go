package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"
	yaml "go.yaml.in/yaml/v4"

	"laconic/compact"
	"laconic/compact/stage"
	"laconic/config/configtest"
	"laconic/tokenize"
)

const exampleFile = "../config.example.yaml"

// The schema takes what the loader takes, or an editor would complain about files that
// work.
func TestSchemaTakesWhatTheLoaderTakes(t *testing.T) {
	schema, err := validator(t).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	valid, refused := 0, 0
	for name, src := range configtest.All(t, "testdata") {
		_, loadErr := Parse("laconic.yaml", src, configtest.Variable)
		root, fault := parseYAML("", src)
		if root == nil || fault != nil {
			continue
		}
		var value any
		if root.Decode(&value) != nil {
			continue
		}
		schemaErr := schema.Validate(plainJSON(value))
		switch {
		case loadErr == nil && schemaErr != nil:
			t.Errorf("%s: the loader takes it, the schema does not: %v", name, schemaErr)
		case loadErr == nil:
			valid++
		case schemaErr != nil:
			refused++
		}
	}
	if valid < 4 || refused < 15 {
		t.Errorf("the schema took %d valid files and refused %d: this test compares too little", valid, refused)
	}
}

// The example is the manual: it names every key, it is valid, and what stands
// in it are the defaults.
func TestExampleIsTheManual(t *testing.T) {
	src, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	if id := gjson.GetBytes(Schema, `\$id`).Str; !bytes.HasPrefix(src, []byte("# yaml-language-server: $schema="+id+"\n")) || !strings.HasPrefix(id, "https://") {
		t.Errorf("the first line does not name the schema for editors: %q", id)
	}
	c, err := Parse(exampleFile, src, configtest.Variable)
	if err != nil {
		t.Fatalf("copied as it is it does not work:\n%v", err)
	}

	// As it is, it says what holds without it.
	d := Default()
	asDefaults := *c
	asDefaults.Models, asDefaults.Policies = nil, d.Policies
	asDefaults.AllowedOrigins, asDefaults.ClientKeys = nil, nil
	if diff := cmp.Diff(d, &asDefaults, ignorePlaces); diff != "" {
		t.Errorf("-default +example\n%s", diff)
	}
	if len(c.AllowedOrigins) != 0 || len(c.ClientKeys) != 0 {
		t.Error("lists that are empty by default are not empty in the example")
	}
	// With every line in use it is still valid, and every key is there. A url is for one
	// kind of store alone, and tls for one kind of url.
	all := bytes.Replace(everyLine(src), []byte("\n  kind: memory\n"), []byte("\n  kind: redis\n"), 1)
	all = bytes.Replace(all, []byte(" url: redis:"), []byte(" url: rediss:"), 1)
	if _, err := Parse(exampleFile, all, func(string) (string, bool) { return "canary-of-16-letters", true }); err != nil {
		t.Errorf("with every line in use:\n%v", err)
	}
	manual := exampleManual(t)
	walkKeys(reflect.TypeFor[Config](), "", func(path string, _ reflect.StructField) {
		if manual[path] == "" {
			t.Errorf("%s is not in the example, or has no comment above it", path)
		}
	})
	schema, err := validator(t).Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range [][]byte{src, all} {
		var value any
		if err := yaml.Unmarshal(text, &value); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(plainJSON(value)); err != nil {
			t.Errorf("the schema refuses the example: %v", err)
		}
	}
	for _, s := range stage.Names() {
		if !bytes.Contains(src, []byte("- "+s)) {
			t.Errorf("the ladder of the example does not name %s", s)
		}
	}
}

// TestSchemaSaysWhatTheCodeSays: the schema has the keys of the types, the
// descriptions of the example, the defaults of Default and the names that other
// packages have. -update writes all but the keys.
func TestSchemaSaysWhatTheCodeSays(t *testing.T) {
	manual, defaults, got := exampleManual(t), defaultValues(), slices.Clone(Schema)
	set := func(path string, want any) {
		t.Helper()
		raw, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(gjson.GetBytes(got, path).Value(), gjson.ParseBytes(raw).Value()) {
			if got, err = sjson.SetRawBytes(got, path, raw); err != nil {
				t.Fatal(err)
			}
		}
	}
	keys := map[string]bool{}
	walkKeys(reflect.TypeFor[Config](), "", func(path string, _ reflect.StructField) {
		keys[path] = true
		at := schemaPath(path)
		if !gjson.GetBytes(Schema, at).Exists() {
			t.Errorf("%s is not in the schema", path)
			return
		}
		set(at+".description", manual[path])
		if defaults[path] != nil {
			set(at+".default", defaults[path])
		}
	})
	var walk func(s *schema, path string)
	walk = func(s *schema, path string) {
		for _, name := range s.keys() {
			inner := s.Properties[name]
			if at := join(path, name); !keys[at] {
				t.Errorf("nobody reads %s", at)
			} else if walk(inner, at); inner.Items != nil {
				walk(inner.Items, at+"[]")
			}
		}
		if s.Additional != nil {
			walk(s.Additional, path+".NAME")
		}
	}
	walk(root, "")
	set(schemaPath("models[].tokenizer")+".anyOf.0.enum", tokenize.Names())
	var roles []string
	for r := compact.System; r <= compact.Tool; r++ {
		roles = append(roles, r.String())
	}
	roles = append(roles, "function")
	set(schemaPath("policies.NAME.pin.roles[]")+".anyOf.0.enum", roles)
	ladder := rungSchema(t)
	set(schemaPath("policies.NAME.ladder[]")+".anyOf", ladder.AnyOf)
	if *update {
		var b bytes.Buffer
		if err := json.Indent(&b, got, "", "  "); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile("schema.json", b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(string(Schema), string(got)); diff != "" {
		t.Errorf("schema.json is old; run go test ./config -run Schema -update\n%s", diff)
	}
}

// schemaPath returns where a key is in the schema.
func schemaPath(path string) string {
	var b strings.Builder
	for key := range strings.SplitSeq(path, ".") {
		name := strings.TrimSuffix(key, "[]")
		if name == "NAME" {
			b.WriteString(".additionalProperties")
		} else {
			b.WriteString(".properties." + name)
		}
		if name != key {
			b.WriteString(".items")
		}
	}
	return b.String()[1:]
}

// unused is a line of the example that is a setting but not in use: no blank,
// or more than one, stands behind its #.
var unused = regexp.MustCompile(`(?m)^( *)#(\S|  )`)

// everyLine puts every setting of the example in use.
func everyLine(src []byte) []byte { return unused.ReplaceAll(src, []byte("$1$2")) }

// exampleManual is the comment above each key of the example.
func exampleManual(t *testing.T) map[string]string {
	t.Helper()
	src, err := os.ReadFile(exampleFile)
	if err != nil {
		t.Fatal(err)
	}
	src = everyLine(src)
	var doc yaml.Node
	if err := yaml.Unmarshal(src, &doc); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(src), "\n")
	above := func(line int) string {
		var words []string
		for i := line - 2; i >= 0; i-- {
			text, ok := strings.CutPrefix(strings.TrimSpace(lines[i]), "# ")
			if !ok {
				break
			}
			words = append([]string{text}, words...)
		}
		return strings.Join(words, " ")
	}
	manual := map[string]string{}
	var walk func(n *yaml.Node, path string)
	walk = func(n *yaml.Node, path string) {
		switch n.Kind {
		case yaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				at := join(path, n.Content[i].Value)
				if path == "policies" {
					at = path + ".NAME"
				}
				if text := above(n.Content[i].Line); text != "" && manual[at] == "" {
					manual[at] = text
				}
				walk(n.Content[i+1], at)
			}
		case yaml.SequenceNode:
			for _, item := range n.Content {
				walk(item, path+"[]")
			}
		}
	}
	walk(doc.Content[0], "")
	return manual
}

// walkKeys visits every key of the configuration, by its path in the manual.
func walkKeys(t reflect.Type, path string, visit func(path string, f reflect.StructField)) {
	switch {
	case t == reflect.TypeFor[Rung](), t == reflect.TypeFor[json.RawMessage]():
	case t.Kind() == reflect.Slice:
		walkKeys(t.Elem(), path+"[]", visit)
	case t.Kind() == reflect.Map:
		walkKeys(t.Elem(), path+".NAME", visit)
	case t.Kind() == reflect.Struct:
		for i, name := range keysOf(t) {
			switch f := t.Field(i); {
			case f.Anonymous:
				walkKeys(f.Type, path, visit)
			case name != "" && name != "-":
				visit(join(path, name), f)
				walkKeys(f.Type, join(path, name), visit)
			}
		}
	}
}

// keysOf lists the keys of a struct of the configuration, by field.
func keysOf(t reflect.Type) []string {
	var names []string
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		names = append(names, name) // "" for fields that are no keys
	}
	return names
}

// validator is the schema as an editor reads it.
func validator(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s := new(jsonschema.Schema)
	if err := json.Unmarshal(Schema, s); err != nil {
		t.Fatal(err)
	}
	return s
}

// defaultValues are the plain values of Default, as JSON, by path.
func defaultValues() map[string]json.RawMessage {
	values := map[string]json.RawMessage{}
	var walk func(v reflect.Value, path string)
	walk = func(v reflect.Value, path string) {
		switch v.Kind() {
		case reflect.Struct:
			for i, name := range keysOf(v.Type()) {
				if name != "" {
					walk(v.Field(i), join(path, name))
				}
			}
			return
		case reflect.Map:
			walk(v.MapIndex(reflect.ValueOf(DefaultPolicy)), path+".NAME")
			return
		case reflect.Slice, reflect.Pointer:
			return
		}
		if s, ok := v.Interface().(fmt.Stringer); ok {
			values[path] = json.RawMessage(strconv.Quote(s.String()))
		} else if raw, err := json.Marshal(v.Interface()); err == nil {
			values[path] = raw
		}
	}
	walk(reflect.ValueOf(*Default()), "")
	values["policies.NAME.trigger"] = json.RawMessage(`"auto"`) // which is 0
	delete(values, "admin_token")
	return values
}

// rungSchema is a stage by name, or with its options.
func rungSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	withOptions := &jsonschema.Schema{
		Type: "object", Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		MinProperties: jsonschema.Ptr(1), MaxProperties: jsonschema.Ptr(1),
	}
	var names []any
	for _, e := range stage.Catalogue {
		names = append(names, e.Name)
		options := &jsonschema.Schema{
			Description: e.Summary, Types: []string{"object", "null"},
			Properties: map[string]*jsonschema.Schema{}, AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
		}
		known := stageOptions(t, e.Name)
		for _, key := range slices.Sorted(maps.Keys(known)) {
			var value any
			if err := json.Unmarshal(known[key], &value); err != nil {
				t.Fatal(err)
			}
			option := &jsonschema.Schema{Default: known[key]}
			switch value.(type) {
			case float64:
				option.Types, option.Pattern = []string{"number", "string"}, `\$\{`
			case bool:
				option.Types, option.Pattern = []string{"boolean", "string"}, `\$\{`
			case string:
				option.Type = "string"
			}
			options.Properties[key] = option
		}
		withOptions.Properties[e.Name] = options
		withOptions.PropertyOrder = append(withOptions.PropertyOrder, e.Name)
	}
	return &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Enum: names}, {Type: "string", Pattern: `\$\{`}, withOptions}}
}

// stageOptions lists the options of a stage, with their defaults, as the stage
// itself writes them.
func stageOptions(t *testing.T, name string) (options map[string]json.RawMessage) {
	t.Helper()
	s, err := stage.New(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(s)
	if err != nil || json.Unmarshal(raw, &options) != nil {
		t.Fatalf("the stage %s does not write its options as a JSON object: %v", name, err)
	}
	return options
}

// plainJSON gives a value of YAML the types of JSON; nil for one that JSON cannot have.
func plainJSON(value any) (plain any) {
	raw, err := json.Marshal(value)
	if err != nil || json.Unmarshal(raw, &plain) != nil {
		return nil
	}
	return plain
}
