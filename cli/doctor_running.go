package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"

	"laconic/cli/findings"
	"laconic/config"
	"laconic/proxy/why"
	"laconic/store"
)

// checkTraffic returns what the proxy that runs on the admin address has found in its
// traffic, without what the doctor has asked itself.
func checkTraffic(ctx context.Context, p *patient) (all []finding) {
	if p.Admin == "" {
		return []finding{{State: why.Unknown, Says: "admin is off, so that nobody tells what the proxy sees"}}
	}
	ctx, stop := context.WithTimeout(ctx, doctorTime)
	defer stop()
	says, err := askAdmin(ctx, p.Config, findingsPath)
	if err == nil {
		err = json.Unmarshal([]byte(says), &all)
	}
	if absent := (*net.OpError)(nil); errors.As(err, &absent) {
		return []finding{{State: why.Unknown, Says: "no running proxy at " + clientAddress(p.Admin)}}
	} else if err != nil {
		return []finding{{State: why.Unknown, Says: "the running proxy does not say: " + err.Error()}}
	}
	own := runningWith(p.Config)
	for i := range all {
		if f := &all[i]; f.Check == "running" && !strings.HasSuffix(f.Says, own) {
			f.State, f.Says = why.Warning, fmt.Sprintf("the proxy at %s is another set-up's: %s, and not %s", clientAddress(p.Admin), f.Says, own)
			f.Fix = "examine that one with laconic doctor -c FILE, or start this one with an admin address of its own"
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

// checkStore asks a store that processes share for everything that it is used for.
func checkStore(ctx context.Context, p *patient) []finding {
	if store.Kind(p.Store.Kind) != store.InRedis {
		return nil
	}
	faults, err := store.Try(ctx, storeOptions(p.Config))
	if err != nil {
		return []finding{{State: why.Failure, Says: err.Error(), Fix: "laconic check says more"}}
	}
	return findings.Of(findings.Facts{Store: &findings.Store{Where: store.ShownURL(p.Store.URL), Faults: faults}})
}
