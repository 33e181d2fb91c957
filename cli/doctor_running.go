package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"

	"laconic/cli/findings"
	"laconic/config"
	"laconic/counting"
	"laconic/store"
)

// countingFor is how the commands count.
var countingFor = counting.For

// checkTraffic returns what the proxy that runs on the admin address has found in its
// traffic. What the doctor has asked itself is not told twice.
func checkTraffic(ctx context.Context, p *patient) []finding {
	if p.Admin == "" {
		return []finding{{State: unknown, Says: "admin is off, so that nobody tells what the proxy sees"}}
	}
	at := clientAddress(p.Admin)
	none := []finding{{State: unknown, Says: "no running proxy at " + at}}
	ctx, stop := context.WithTimeout(ctx, doctorTime)
	defer stop()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+at+findingsPath, nil)
	if err != nil {
		return none
	}
	if p.AdminToken != "" {
		r.Header.Set("Authorization", "Bearer "+string(p.AdminToken))
	}
	res, err := p.client.Do(r)
	if err != nil {
		return none
	}
	defer func() { _ = res.Body.Close() }()
	var all []finding
	if err := json.NewDecoder(http.MaxBytesReader(nil, res.Body, 1<<20)).Decode(&all); err != nil || res.StatusCode != http.StatusOK {
		return []finding{{State: unknown, Says: fmt.Sprintf("%s answers %d to GET %s", at, res.StatusCode, findingsPath)}}
	}
	for i := range all {
		if own := runningWith(p.Config); all[i].Check == "running" && !strings.HasSuffix(all[i].Says, own) {
			all[i].State, all[i].Says = warning, fmt.Sprintf("the proxy at %s is another set-up's: %s, and not %s", at, all[i].Says, own)
			all[i].Fix = "examine that one with laconic doctor -c FILE, or start this one with an admin address of its own"
		}
	}
	return slices.DeleteFunc(all, func(f finding) bool { return slices.Contains([]string{"configuration", "upstream", "store"}, f.Check) })
}

// runningAs returns which program this is, and with which configuration.
func runningAs(c *config.Config) string { return "laconic " + version() + " " + runningWith(c) }

func runningWith(c *config.Config) string {
	if c.File() == "" {
		return "without a configuration file"
	}
	path, err := filepath.Abs(c.File())
	if err != nil {
		path = c.File()
	}
	return "with " + path
}

// checkStore asks a store that processes share for what it is used for.
func checkStore(ctx context.Context, p *patient) (all []finding) {
	if store.Kind(p.Store.Kind) != store.InRedis {
		return nil
	}
	faults, err := store.Try(ctx, storeOptions(p.Config))
	if err != nil {
		return []finding{{State: failure, Says: err.Error(), Fix: "laconic check says more"}}
	}
	return findings.Of(findings.Facts{Store: &findings.Store{Where: store.ShownURL(p.Store.URL), Faults: faults}})
}
