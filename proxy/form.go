package proxy

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"strings"
)

const (
	// mostStart is where in a form the model has to be named, in bytes: other
	// servers give up there.
	mostStart = 1 << 20
	// longestName is the longest name of a model in a form.
	longestName = 1 << 10
)

var errForm = errors.New("the form cannot be read")

// chooseForForm sets the route of a request with a form, which was read.
func (t *trip) chooseForForm(in *incoming, boundary string) *refusal {
	if in.text == nil {
		return t.choose("", errEncoding)
	}
	model, err := modelInForm(bytes.NewReader(in.text), boundary)
	if err == nil && model != "" && len(in.text) > mostStart {
		if early, _ := modelInForm(bytes.NewReader(in.text[:mostStart]), boundary); early == "" {
			err = errBehind
		}
	}
	return t.choose(model, err)
}

// modelInForm returns the model that a form names, "" where it names none. It
// fails where readers could differ. The name that comes with errForm is the one
// that was found before.
func modelInForm(r io.Reader, boundary string) (model string, err error) {
	parts := multipart.NewReader(r, boundary)
	for named := false; ; {
		part, err := parts.NextRawPart()
		if err == io.EOF {
			return model, nil
		}
		if err != nil {
			return model, errForm
		}
		_, about, err := mime.ParseMediaType(part.Header.Get("Content-Disposition"))
		if disposition := part.Header["Content-Disposition"]; err != nil || len(disposition) > 1 || strings.Contains(strings.Join(disposition, ""), "name*") {
			return model, errForm
		}
		if !strings.EqualFold(about["name"], "model") {
			continue
		}
		text, err := io.ReadAll(io.LimitReader(part, longestName+1))
		if err != nil {
			return model, errForm
		}
		_, file := about["filename"]
		switch {
		case named, about["name"] != "model":
			return "", errTwice
		case file, len(text) > longestName, part.Header.Get("Content-Transfer-Encoding") != "":
			return "", errForm
		}
		model, named = string(text), true
	}
}
