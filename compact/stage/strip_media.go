package stage

import (
	"strings"
	"unicode"

	"laconic/compact"
)

// stripMedia replaces old images, sounds, videos and files by a line of text. One
// of them costs as much as pages of text, and the answer that followed mostly
// says what was in it. The text beside it stays.
type stripMedia struct{}

func (s *stripMedia) Name() string { return "strip_media" }

func (s *stripMedia) Shrink(d *compact.Draft) {
	for _, ref := range d.Media() {
		if d.Over() == 0 {
			return
		}
		part := d.Part(ref)
		d.Rewrite(ref, leftOut(&part), "old media")
	}
}

// leftOut returns the line that replaces a part: its kind, and its format or name
// if the client sent one. The detail of an image is of no use without the image.
func leftOut(p *compact.Part) string {
	kind := map[compact.Kind]string{compact.KindImage: "image", compact.KindAudio: "audio", compact.KindFile: "file", compact.KindVideo: "video"}[p.Kind]
	if name := plainName(p.Detail); name != "" && p.Kind != compact.KindImage {
		return "(" + kind + " left out: " + name + ")"
	}
	return "(" + kind + " left out)"
}

// maxMediaName is how many characters of a name are written.
const maxMediaName = 80

// plainName returns a name on one line, without characters that could end the
// line of text around it. A long name keeps its end, where the extension is.
func plainName(s string) string {
	if len(s) > 16*maxMediaName {
		s = s[len(s)-16*maxMediaName:]
	}
	s = strings.Map(func(r rune) rune {
		switch {
		case r == unicode.ReplacementChar || strings.ContainsRune("()[]{}<>", r):
			return -1
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, s)
	runes := []rune(strings.Join(strings.Fields(s), " "))
	if n := len(runes); n > maxMediaName {
		runes = append([]rune{'…'}, runes[n-maxMediaName+1:]...)
	}
	return string(runes)
}
