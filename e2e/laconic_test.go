package e2e

import (
	"os"
	"testing"

	"laconic/e2e/rig"
)

// TestMain fails the tests when they left a goroutine behind.
func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
