//go:build unix

package storetest

import "syscall"

// Stall makes the server stand still, with its connections open, until Continue or Stop.
func (r *Redis) Stall() { _ = r.cmd.Process.Signal(syscall.SIGSTOP) }

// Continue ends a Stall.
func (r *Redis) Continue() { _ = r.cmd.Process.Signal(syscall.SIGCONT) }
