package binary

import (
	"time"

	"golang.org/x/sys/unix"
)

// processTime returns how long processors have worked for a process so far.
func processTime(pid int) (time.Duration, error) {
	var t unix.Timespec
	err := unix.ClockGettime(int32(^pid<<3|2), &t) // the clock of another process: CPUCLOCK_SCHED
	return time.Duration(t.Nano()), err
}
