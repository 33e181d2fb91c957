package stage

import (
	"strings"
	"unicode"

	"laconic/compact"
)

// stripMedia makes old images, sounds, videos and files a line of text. One of them
// costs as much as pages of text, and what was to be learnt from it mostly
// stands in the answer that followed. The text beside it stays.
type stripMedia struct{}

func newStripMedia(raw []byte) (compact.Stage, error) { return options(&stripMedia{}, raw) }

func (s *stripMedia) Name() string { return "strip_media" }

func (s *stripMedia) Shrink(d *compact.Draft) {
	for _, ref := range d.Media() {
		if d.Over() == 0 {
			return
		}
		part := d.Part(ref)
		d.ReplaceMedia(ref, leftOut(&part), "old media")
	}
}

// leftOut is the line that stands in place of a part: what it was, and its
// format or name where that was sent. The detail of an image says how closely
// to look at it, which is of no use without it.
func leftOut(p *compact.Part) string {
	var kind, name string
	switch p.Kind {
	case compact.KindImage:
		kind = "image"
	case compact.KindAudio:
		kind, name = "audio", p.Detail
	case compact.KindVideo:
		kind, name = "video", p.Detail
	default:
		kind, name = "file", p.Detail
	}
	if name = plainName(name); name != "" {
		return "(" + kind + " left out: " + name + ")"
	}
	return "(" + kind + " left out)"
}

// longMediaName is how many characters of a name are written.
const longMediaName = 80

// plainName is a name on one line, without what could end the line of text it
// stands in. A long one keeps its end, where the extension is.
func plainName(s string) string {
	if len(s) > 16*longMediaName {
		s = s[len(s)-16*longMediaName:]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar || strings.ContainsRune("()[]{}<>", r):
			return -1
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if n := len(runes); n > longMediaName {
		runes = append([]rune{'…'}, runes[n-longMediaName+1:]...)
	}
	return string(runes)
}
