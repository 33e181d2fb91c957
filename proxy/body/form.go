package body

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"strings"
)

const (
	// mostStart is how much of a form may come before its model, in bytes.
	mostStart = 1 << 20
	// longestName is the longest name of a model in a form.
	longestName = 1 << 10
)

// encodedName matches the parameter name* of a part, which only some readers know.
// The parameter of a file, filename*, is common and harmless.
var encodedName = regexp.MustCompile(`(?i)(?:^|[\s;])name\*`)

// Why the model of a request is not known.
var (
	ErrForm       = errors.New("the form cannot be read")
	ErrModelTwice = errors.New("the model is named more than once")
	ErrModelLate  = errors.New("the model is behind the first part of a form")
)

// ModelInForm returns the model that a form names, or "". It fails where readers of
// the form could differ.
func ModelInForm(form []byte, boundary string) (string, error) {
	model, err := modelIn(bytes.NewReader(form), boundary)
	if err == nil && model != "" && len(form) > mostStart {
		if early, _ := modelIn(bytes.NewReader(form[:mostStart]), boundary); early == "" {
			err = ErrModelLate
		}
	}
	return model, err
}

// modelIn is ModelInForm but for the size. The name that comes with ErrForm is the
// one that was found before.
func modelIn(r io.Reader, boundary string) (model string, err error) {
	parts := multipart.NewReader(r, boundary)
	for named := false; ; {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return model, nil
		}
		if err != nil {
			return model, ErrForm
		}
		_, about, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if about := part.Header["Content-Disposition"]; err != nil || len(about) > 1 || encodedName.MatchString(about[0]) {
			return model, ErrForm
		}
		if !strings.EqualFold(about["name"], "model") {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, longestName+1))
		if err != nil {
			return model, ErrForm
		}
		_, file := about["filename"]
		switch {
		case named, about["name"] != "model":
			return "", ErrModelTwice
		case file, len(text) > longestName, part.Header.Get("Content-Transfer-Encoding") != "":
			return "", ErrForm
		}
		model, named = string(text), true
	}
}
