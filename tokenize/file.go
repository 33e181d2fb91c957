package tokenize

import (
	"bytes"
	"regexp"
	"strings"
)

// FileUnseen is the cost of a file whose content is not in the request (a file_id, a URL): five pages of text with
// their pictures, or 25 kB of text.
const FileUnseen = 8_000

// File returns the cost of a file. data is base64, with or without a data URL in front; name is the file's name, if any.
// A PDF is charged by its pages: the text of a page and its picture, as the providers feed it to the model. Pages
// are counted where the file shows them, else guessed from its size. Pictures and sounds are charged as such, all
// other files as text of their size. Without data the cost is [FileUnseen].
func (c *Counter) File(data, name string) int {
	mediaType, inner, ok := given(data)
	switch {
	case !ok:
		return max(FileUnseen, c.Bytes(len(data))) // a data URL may hold its text as it is
	case strings.HasPrefix(mediaType, "image/"):
		return c.Image(data, "")
	case strings.HasPrefix(mediaType, "audio/"):
		return c.Audio(inner, strings.TrimPrefix(mediaType, "audio/"))
	case isPDF(mediaType, inner, name):
		page := c.family.page
		if page == 0 {
			// A full page of prose has about 1,200 tokens. Its picture is taken as US letter at 144 dots per inch. For Claude that
			// is 2,800 tokens; its documentation says 1,500 to 3,000.
			page = 1_200 + c.family.image.tokens(1_224, 1_584, "")
		}
		return pdfPages(inner) * page
	}
	return c.Bytes(decodedLen(inner))
}

// Searched reports whether [Counter.File] has to search the file for pages, which takes a millisecond per megabyte: a PDF
// that is in the request. Its cost depends on its data and the family alone, and is worth remembering.
func Searched(data, name string) bool {
	mediaType, inner, ok := given(data)
	return ok && isPDF(mediaType, inner, name)
}

func isPDF(mediaType, data, name string) bool {
	const mark, suffix = "JVBERi", ".pdf" // %PDF-
	return strings.HasPrefix(strings.TrimLeft(data, " \t\r\n"), mark) || mediaType == "application/pdf" ||
		mediaType == "" && len(name) >= len(suffix) && strings.EqualFold(name[len(name)-len(suffix):], suffix)
}

const (
	pageBytes   = 20 << 10 // a PDF that hides its pages has one per so many bytes: typeset text; scans have fewer
	mostGuessed = 100      // no more pages are guessed: OpenAI and Claude take 100
	mostPages   = 1_000    // no more pages are charged: Gemini takes 1,000
	longestScan = 16 << 20 // a longer base64 text is not searched for pages
)

// pageMark is the type of a page object, which is not that of /Pages or /PageLabel.
var pageMark = regexp.MustCompile(`/Type[ \t\r\n\x00\f]*/Page(?:[^A-Za-z]|$)`)

// pdfPages returns the number of pages of a PDF, at least 1. The file is searched for page objects. Files since PDF 1.5
// may pack these into compressed streams, and a broken file may have more than were seen; then the guess from the size is
// taken if it is larger.
func pdfPages(data string) int {
	guess := min(decodedLen(data)/pageBytes+1, mostGuessed)
	if len(data) > longestScan {
		return guess
	}
	raw, whole := decoded(data, len(data))
	pages := len(pageMark.FindAllIndex(raw, mostPages))
	if pages == 0 || !whole || bytes.Contains(raw, []byte("/ObjStm")) {
		pages = max(pages, guess)
	}
	return pages
}
