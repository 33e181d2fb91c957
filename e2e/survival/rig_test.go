package survival

import (
	"os"
	"testing"

	"laconic/e2e/rig"
)

type laconic = rig.Laconic

var (
	client       = rig.Client
	command      = rig.Command
	startLaconic = rig.Start
	writeFile    = rig.WriteFile
)

// TestMain fails the tests when they left a goroutine behind.
func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
