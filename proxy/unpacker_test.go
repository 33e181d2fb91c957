package proxy

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"

	"go.uber.org/zap"
	"golang.org/x/sync/semaphore"
)

// flusher is what all writers of packings are: a server that streams flushes
// after each event.
type flusher interface{ Flush() error }

// packedStream is an answer of n events, flushed after each; its last tells the
// usage.
func packedStream(encoding string, n int) []byte {
	var b bytes.Buffer
	z := packings[encoding](&b)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		_, _ = fmt.Fprintf(z, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":%d,\"delta\":{\"content\":\" %x\"}}]}\n\n", i, random.Uint64())
		_ = z.(flusher).Flush()
	}
	_, _ = io.WriteString(z, "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":4321,\"completion_tokens\":1500}}\n\ndata: [DONE]\n\n")
	_ = z.Close()
	return b.Bytes()
}

// answering answers with bytes in an encoding, in pieces.
func answering(encoding, kind string, all []byte, piece int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", encoding)
		w.Header().Set("Content-Type", kind)
		for rest := all; len(rest) > 0; rest = rest[min(piece, len(rest)):] {
			if _, err := w.Write(rest[:min(piece, len(rest))]); err != nil {
				return
			}
			_ = http.NewResponseController(w).Flush()
		}
	}
}

func TestTheUsageOfALongCompressedStreamIsRead(t *testing.T) {
	for encoding := range packings {
		all := packedStream(encoding, 1500)
		if len(all) < 40_000 {
			t.Fatalf("%s: %d bytes are few", encoding, len(all))
		}
		for _, piece := range []int{700, 32 << 10} {
			var log logged
			p := inFrontOf(t, newUpstream(t, answering(encoding, "text/event-stream", all, piece)), func(o *Options) { o.Listener = LogTo(log.at(zap.DebugLevel)) })
			if res := p.chat(chatBody, "Accept-Encoding", encoding); !bytes.Equal(res.body, all) {
				t.Errorf("%s: the answer was changed", encoding)
			}
			r := p.replies(1)[0]
			if r.Usage == nil || r.Usage.Prompt != 4321 || !r.Done || r.Unread {
				t.Errorf("%s, pieces of %d: %+v", encoding, piece, r)
			}
			if !strings.Contains(log.text(), `"done":true`) {
				t.Error(log.text())
			}
			if !p.unpacking.TryAcquire(DefaultMemory / unpackingShare) {
				t.Errorf("%s: memory was not given back", encoding)
			}
		}
	}
}

// An answer that breaks off tells what stands before that: it is not done.
func TestACompressedStreamThatBreaksOff(t *testing.T) {
	for encoding := range packings {
		all := packedStream(encoding, 1500)
		u := newUpstream(t, func(w http.ResponseWriter, r *http.Request) {
			answering(encoding, "text/event-stream", all[:len(all)*2/3], 5000)(w, r)
			panic(http.ErrAbortHandler)
		})
		p := inFrontOf(t, u)
		if res := p.chat(chatBody, "Accept-Encoding", encoding); res.err == nil {
			t.Errorf("%s: the answer ended cleanly", encoding)
		}
		if r := p.replies(1)[0]; r.Unread || r.Done || r.Usage != nil || len(p.faults()) > 0 {
			t.Errorf("%s: %+v", encoding, r)
		}
	}
}

// The end of an answer counts however well it is compressed.
func TestTheUsageOfAWellCompressedAnswerIsRead(t *testing.T) {
	for encoding, pack := range packings {
		var b bytes.Buffer
		z := pack(&b)
		_, _ = io.WriteString(z, `{"id":"x","choices":[{"message":{"content":"`+strings.Repeat("word ", 1<<20)+`"}}],"usage":{"prompt_tokens":77}}`)
		_ = z.Close()
		p := inFrontOf(t, newUpstream(t, answering(encoding, "application/json", b.Bytes(), 1<<20)))
		p.chat(chatBody, "Accept-Encoding", encoding)
		if r := p.replies(1)[0]; r.Usage == nil || r.Usage.Prompt != 77 {
			t.Errorf("%s, %d bytes: %+v", encoding, b.Len(), r)
		}
	}
}

// What cannot be read tells nothing, and nothing is said of its end.
func TestCompressedAnswersThatCannotBeRead(t *testing.T) {
	noise := make([]byte, 300_000) // a block of zstd has 128 KB
	random := rand.New(rand.NewPCG(3, 4))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	f := func(name, encoding string, all []byte) {
		t.Run(name, func(t *testing.T) {
			var log logged
			p := inFrontOf(t, newUpstream(t, answering(encoding, "text/event-stream", all, 3000)), func(o *Options) { o.Listener = LogTo(log.at(zap.DebugLevel)) })
			if res := p.chat(chatBody, "Accept-Encoding", encoding); !bytes.Equal(res.body, all) {
				t.Error("the answer was changed")
			}
			r := p.replies(1)[0]
			if !r.Unread || r.Usage != nil || r.Done || len(p.faults()) > 0 || r.Code != "" {
				t.Errorf("%+v %v", r, p.faults())
			}
			if text := log.text(); strings.Contains(text, `"done"`) || strings.Contains(text, "prompt_tokens") {
				t.Error(text)
			}
		})
	}
	for encoding := range packings {
		f(encoding+": noise", encoding, noise)
		f(encoding+": noise behind a start", encoding, append(packedStream(encoding, 1500)[:20_000:20_000], noise...))
	}
	f("unknown", "exi", packedStream("gzip", 1500))
	f("two", "gzip, gzip", packedStream("gzip", 1500))
}

// A bomb costs no more than a long answer may, and its client waits for none of
// it.
func TestABombIsNotUnpacked(t *testing.T) {
	if raceDetector {
		t.Skip("it is one goroutine's work, and takes a minute so")
	}
	for encoding, pack := range packings {
		var b bytes.Buffer
		z := pack(&b)
		block := make([]byte, 1<<20)
		for range 100 {
			_, _ = z.Write(block)
		}
		_ = z.Close()
		for _, piece := range []int{4 << 10, 1 << 20} {
			u := newUnpacker(encoding, semaphore.NewWeighted(64<<20))
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			most := 0
			for rest := b.Bytes(); len(rest) > 0; rest = rest[min(piece, len(rest)):] {
				was := u.total
				u.work()
				u.add(rest[:min(piece, len(rest))])
				most = max(most, u.total-was)
			}
			was := u.total
			_, ok := u.finish()
			runtime.ReadMemStats(&after)
			most = max(most, u.total-was)
			// What one read of a decoder gives comes on top.
			if ok || u.total > mostUnpacked+1<<20 || most > mostAtOnce+1<<20 {
				t.Errorf("%s in pieces of %d: %d bytes were unpacked, %d at once, and it was taken for whole: %v", encoding, piece, u.total, most, ok)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 40<<20 {
				t.Errorf("%s in pieces of %d took %d MB", encoding, piece, took>>20)
			}
		}
	}
}

// Windows are taken from a share of the memory. Where that is used up, usage is
// not known; nothing waits.
func TestWindowsOfCompressedAnswersAreBounded(t *testing.T) {
	room := semaphore.NewWeighted(20 << 20)
	var all []*unpacker
	known := 0
	stream := packedStream("br", 3000)
	for range 10 {
		u := newUnpacker("br", room)
		u.add(stream[:len(stream)/2])
		u.work()
		all = append(all, u)
	}
	for _, u := range all {
		u.add(stream[len(stream)/2:])
		if text, ok := u.finish(); ok && done(text) {
			known++
		}
	}
	if known < 1 || known > 5 {
		t.Errorf("%d of 10 were unpacked at once", known)
	}
	if !room.TryAcquire(20 << 20) {
		t.Error("memory was not given back")
	}
}
