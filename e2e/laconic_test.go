package e2e

import (
	"flag"
	"os"
	"testing"

	"laconic/e2e/rig"
)

const patience = rig.Patience

type laconic = rig.Laconic

var (
	client       = rig.Client
	laconicPath  = rig.Path
	command      = rig.Command
	startLaconic = rig.Start
	writeFile    = rig.WriteFile
	listening    = rig.Listening
)

var update = flag.Bool("update", false, "rewrite what the stories and the first minutes show")

// TestMain fails the tests when they left a goroutine behind.
func TestMain(m *testing.M) {
	if serveBare() {
		return
	}
	os.Exit(rig.Main(m))
}
