package proxy

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"regexp"
	"strings"

	"laconic/proxy/apierror"
)

const (
	// mostStart is the start of a form in which the model has to be named, in
	// bytes.
	mostStart = 1 << 20
	// longestName is the longest name of a model in a form.
	longestName = 1 << 10
)

// encodedName is the parameter of a part by which some readers know it by another
// name than others. The one of a file, filename*, is common, and tells nothing.
var encodedName = regexp.MustCompile(`(?i)(?:^|[\s;])name\*`)

var errForm = errors.New("the form cannot be read")

// chooseForForm sets the route of a request with a form, which was read.
func (t *trip) chooseForForm(in *incoming, boundary string) *apierror.Error {
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
		if about := part.Header["Content-Disposition"]; err != nil || len(about) > 1 || encodedName.MatchString(about[0]) {
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
