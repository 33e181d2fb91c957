package wire

import "strings"

// Route is a kind of body that can be read.
type Route struct {
	// Suffix is how the path of such a request ends.
	Suffix string
	// Name is the dialect, for logs.
	Name string
	// Decode reads a body. Its error is always a *PassError.
	Decode func(body []byte) (*Request, error)
}

// Routes are all dialects. A new one is one file and one row.
var Routes = []Route{
	{Suffix: "/chat/completions", Name: "openai_chat", Decode: Decode},
}

// RouteFor gives the route of a request's path, nil for a path whose bodies
// are not read.
func RouteFor(path string) *Route {
	for i := range Routes {
		if strings.HasSuffix(path, Routes[i].Suffix) {
			return &Routes[i]
		}
	}
	return nil
}
