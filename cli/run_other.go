//go:build !unix

package cli

import (
	"os"
	"syscall"
)

// passed are the signals that a command gets which runs behind a proxy.
var passed = []os.Signal{os.Interrupt, syscall.SIGTERM}

// sentToAll reports whether a signal goes to the command anyway: a console sends
// Ctrl-C and Ctrl-Break to all of its processes.
func sentToAll(os.Signal) bool { return true }

// terminate ends a process: there is no way to ask it.
func terminate(p *os.Process) error { return p.Kill() }
