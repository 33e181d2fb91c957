package config

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// A Reload is what becomes of a configuration that is read while a proxy runs under
// another.
type Reload struct {
	// Changed are the keys whose values are other ones now.
	Changed []string
	// Kept are the keys whose values differ, and whose running values stay until the next
	// start. Unless a key is only ever read at the start, the reason follows in brackets.
	Kept []string
}

// taken are the settings that a reload takes, unless guard returns a reason.
var taken = []string{
	"prices", "response_headers", "service", "discover", "strict", "on_fault", "readiness", "log.level", "default_window",
	"limits.stream_idle", "limits.drain", "limits.shutdown", "policies", "client_limits",
	"models", "upstream", "client_keys", "admin_token",
}

// guard returns why a setting is not taken. A file that lost its end is often a valid
// file, so a missing setting must not let more clients in, or change whose key goes
// where and where requests go by default.
func guard(key string, running, next *Config) (why string) {
	switch {
	case key == "models":
		return keptKeys(running, next)
	case key == "upstream" && !next.Has("upstream"):
		return "the file does not name it any more"
	case key == "client_keys" && len(next.ClientKeys) == 0:
		return "the last key is not taken away while the proxy runs"
	case key == "admin_token" && next.AdminToken == "":
		return "it is not taken away while the proxy runs"
	}
	return ""
}

// keptKeys returns why rows are not taken: a model would lose the api_key that it is sent
// with, or all models the upstream of their row.
func keptKeys(running, next *Config) string {
	for i, m := range running.Models {
		row := next.RowOf(strings.ReplaceAll(m.Match, "*", anyText)) // that takes all models of m
		if m.APIKey != "" && row.APIKey == "" {
			return fmt.Sprintf("the api_key of the running models[%d] is not taken away while the proxy runs", i)
		}
		if m.Everything() && m.Upstream != "" && row.Upstream == "" {
			return "the upstream of the row for all models is not taken away while the proxy runs"
		}
	}
	return ""
}

// Reload gives next, a valid configuration that was read while a proxy runs under c, the
// running values of what is Kept, so that it holds from now on. The error is Problems,
// where it cannot hold with them, or sets nothing at all: a file that is being written.
func (c *Config) Reload(next *Config) (Reload, error) {
	if len(next.places[""].node.Content) == 0 { // the file's map
		return Reload{}, Problems{{
			File: next.File, Message: "the file has no settings",
			Hint: "without them every setting would have its default; for that, restart the proxy",
		}}
	}
	var r Reload
	settings("", reflect.ValueOf(c).Elem(), reflect.ValueOf(next).Elem(), func(key string, now, then reflect.Value) {
		if now.Kind() == reflect.Slice && now.Len()+then.Len() == 0 || reflect.DeepEqual(now.Interface(), then.Interface()) {
			return
		}
		why := guard(key, c, next)
		if slices.Contains(taken, key) && why == "" {
			r.Changed = append(r.Changed, key)
			return
		}
		then.Set(now)
		next.placesFrom(c, key)
		if why != "" {
			key += " (" + why + ")"
		}
		r.Kept = append(r.Kept, key)
	})
	return r, problems(next.check())
}

// placesFrom makes the places of a key those of another configuration.
func (c *Config) placesFrom(other *Config, key string) {
	below := func(path string, _ place) bool {
		rest, ok := strings.CutPrefix(path, key)
		return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
	}
	maps.DeleteFunc(c.places, below)
	for path, p := range other.places {
		if below(path, p) {
			c.places[path] = p
		}
	}
}

// settings calls each with every setting of two configurations, in their order, with those
// of log and limits.
func settings(at string, running, next reflect.Value, each func(key string, now, then reflect.Value)) {
	for i := range running.NumField() {
		name, _, _ := strings.Cut(running.Type().Field(i).Tag.Get("json"), ",")
		switch {
		case name == "", name == "-":
		case name == "log" || name == "limits":
			settings(name, running.Field(i), next.Field(i), each)
		default:
			each(join(at, name), running.Field(i), next.Field(i))
		}
	}
}
