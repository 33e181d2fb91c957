package tokenize

import (
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
)

func TestSoundCostsItsSeconds(t *testing.T) {
	f := func(model string, raw []byte, format string, want int) {
		t.Helper()
		data := base64.StdEncoding.EncodeToString(raw)
		if got := For(model).Audio(data, format); got != want {
			t.Errorf("%s: %d bytes of %q cost %d, want %d", model, len(raw), format, got, want)
		}
		if got := For(model).Audio("data:audio/"+format+";base64,"+data, format); got != want {
			t.Errorf("%s: as a data URL it costs %d, want %d", model, got, want)
		}
	}
	// Ten seconds at 48,000 bytes per second, less the header: OpenAI 10 tokens each, Gemini 32.
	f("gpt-4o-audio-preview", wav(48_000, 480_000-44, ""), "wav", 100)
	f("gpt-4o-audio-preview", wav(48_000, 480_000-44+6, ""), "wav", 110) // a part of a second is a second
	f("gemini-2.5-flash", wav(48_000, 480_000-44, ""), "wav", 320)
	f("gpt-4o-audio-preview", wav(48_000, 480_000-44, ""), "mp3", 100) // the bytes know better
	f("gpt-4o-audio-preview", wav(48_000, 480_000-44-120, strings.Repeat("x", 111)), "wav", 100)

	// By the lowest usual bit rate.
	f("gpt-4o-audio-preview", make([]byte, 240_000), "mp3", 600)           // 60 s at 32 kbit/s
	f("gpt-4o-audio-preview", make([]byte, 240_000), "MP3", 600)           //
	f("gpt-4o-audio-preview", make([]byte, 240_000), "opus", 1_200)        // 120 s at 16 kbit/s
	f("gpt-4o-audio-preview", make([]byte, 240_000), "", 1_200)            //
	f("gpt-4o-audio-preview", make([]byte, 320_000), "pcm16", 1_600)       // 160 s at 16 kbit/s
	f("gpt-4o-audio-preview", make([]byte, 240_000), "wav", 1_200)         // no header
	f("gpt-4o-audio-preview", []byte("RIFF____WAVEjunk"), "wav", 10)       // cut off
	f("gpt-4o-audio-preview", []byte("RIFF____WAVE"), "wav", 10)           //
	f("gpt-4o-audio-preview", wav(48_000, 0, "")[:30], "wav", 10)          // inside the format
	f("gpt-4o-audio-preview", wavChunk("fmt ", 4, 8_000), "wav", 40)       // too short a format
	f("gpt-4o-audio-preview", wavChunk("LIST", 1<<31, 8_000), "wav", 40)   // a chunk that runs out
	f("gpt-4o-audio-preview", wavChunk("LIST", 1<<20, 80_000), "wav", 400) //

	// A header that lies moves the cost no further than speech codecs and studios go.
	f("gpt-4o-audio-preview", wav(0, 100_000-44, ""), "wav", 1_000)          // at 1,000 bytes per second
	f("gpt-4o-audio-preview", wav(1, 100_000-44, ""), "wav", 1_000)          //
	f("gpt-4o-audio-preview", wav(1<<31, 1_536_000*2-44, ""), "wav", 20)     // at 1,536,000
	f("gpt-4o-audio-preview", wav(1<<32-1, 1_536_000*2-44+6, ""), "wav", 30) //
}

func TestSoundThatIsNotThereCostsAMinute(t *testing.T) {
	for _, data := range []string{"", "https://x/a.wav"} {
		if got := For("gpt-4o-audio-preview").Audio(data, "wav"); got != AudioUnseen*10 {
			t.Errorf("%q: got %d, want %d", data, got, AudioUnseen*10)
		}
	}
	if got := For("gemini-2.5-pro").Audio("", ""); got != AudioUnseen*32 {
		t.Errorf("got %d, want %d", got, AudioUnseen*32)
	}
}

func TestSoundIsReadNoFurtherThanItsBound(t *testing.T) {
	// A million empty chunks stand before the format.
	raw := append([]byte("RIFF____WAVE"), strings.Repeat("junk\x00\x00\x00\x00", 1<<20)...)
	raw = append(raw, wav(48_000, 0, "")[12:]...)
	if rate, ok := wavRate(base64.StdEncoding.EncodeToString(raw)); ok {
		t.Errorf("a rate of %d was found", rate)
	}
}

// wav is a file of one channel and n bytes of silence; extra stands in a chunk of its own before the format.
func wav(rate uint32, n int, extra string) []byte {
	raw := []byte("RIFF____WAVE")
	if extra != "" {
		raw = append(raw, "JUNK"...)
		raw = binary.LittleEndian.AppendUint32(raw, uint32(len(extra)))
		raw = append(raw, extra...)
		if len(extra)%2 == 1 {
			raw = append(raw, 0)
		}
	}
	raw = append(raw, "fmt \x10\x00\x00\x00\x01\x00\x01\x00"...)
	raw = binary.LittleEndian.AppendUint32(raw, rate/2)
	raw = binary.LittleEndian.AppendUint32(raw, rate)
	raw = append(raw, 2, 0, 16, 0)
	raw = append(raw, "data"...)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(n))
	return append(raw, make([]byte, n)...)
}

func wavChunk(name string, size uint32, n int) []byte {
	raw := append([]byte("RIFF____WAVE"), name...)
	raw = binary.LittleEndian.AppendUint32(raw, size)
	return append(raw, make([]byte, n-len(raw))...)
}
