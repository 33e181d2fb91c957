package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"laconic/tokenize"
)

// A counter gives the number of tokens of a text.
type counter func(text string) (int, error)

// A took is how long something took: of processor time, all threads, and on the wall.
type took struct{ processor, wall time.Duration }

// compare prints the table of one encoding. In each round every text is counted by one, then by the other, so that
// both meet the same neighbours on the machine.
func compare(name string, texts []text, ours, theirs counter, rounds int) error {
	fmt.Printf("| %s | MB | MB/s | tiktoken-go/tokenizer | times as fast | on the wall |\n|---|---|---|---|---|---|\n", name)
	for _, t := range texts {
		messages := cut(t.data)
		// The other is slow: a part is enough to know its speed.
		some := messages[:(len(messages)+3)/4]
		var our, other, ratio, wall []float64
		for range rounds {
			a, err := measure(messages, ours)
			if err != nil {
				return err
			}
			b, err := measure(some, theirs)
			if err != nil {
				return err
			}
			our = append(our, speed(messages, a.processor))
			other = append(other, speed(some, b.processor))
			ratio = append(ratio, speed(messages, a.processor)/speed(some, b.processor))
			wall = append(wall, speed(messages, a.wall)/speed(some, b.wall))
		}
		fmt.Printf("| %s | %.1f | %.0f | %.1f | %.1f | %.1f |\n",
			t.name, float64(len(t.data))/1e6, median(our), median(other), median(ratio), median(wall))
	}
	fmt.Println()
	return nil
}

// hostile prints how fast four megabytes are counted that want to be slow, and one megabyte of the same: linear means
// that the speed stays. The other library is not asked: it needs quadratic time for some of them.
func hostile(e *tokenize.Encoding, rounds int) {
	fmt.Printf("| %s, hostile | MB/s, 1 MB | MB/s, 4 MB |\n|---|---|---|\n", e.Name())
	count := func(text string) (int, error) { return e.CountString(text), nil }
	for _, h := range hostileTexts {
		var speeds []float64
		for _, size := range []int{1 << 20, 4 << 20} {
			whole := []string{h.make(size)} // one message
			var all []float64
			for range rounds {
				a, _ := measure(whole, count)
				all = append(all, speed(whole, a.processor))
			}
			speeds = append(speeds, median(all))
		}
		fmt.Printf("| %s | %.0f | %.0f |\n", h.name, speeds[0], speeds[1])
	}
	fmt.Println()
}

// measure counts the messages from scratch.
func measure(messages []string, count counter) (took, error) {
	runtime.GC()
	runtime.GC() // the second empties the pools
	start, processor := time.Now(), processorTime()
	for _, m := range messages {
		if _, err := count(m); err != nil {
			return took{}, err
		}
	}
	return took{processorTime() - processor, time.Since(start)}, nil
}

func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}

// speed is in megabytes per second.
func speed(messages []string, d time.Duration) float64 {
	size := 0
	for _, m := range messages {
		size += len(m)
	}
	return float64(size) / 1e6 / d.Seconds()
}

func median(all []float64) float64 {
	slices.Sort(all)
	return all[len(all)/2]
}

// cut makes messages of at most 64 KiB, which end with lines where there are any.
func cut(data string) (messages []string) {
	for len(data) > 0 {
		n := len(data)
		if n > 64<<10 {
			n = 64 << 10
			if line := strings.LastIndexByte(data[:n], '\n'); line > 0 {
				n = line + 1
			}
			for !utf8.RuneStart(data[n]) {
				n--
			}
		}
		messages = append(messages, data[:n])
		data = data[n:]
	}
	return messages
}
