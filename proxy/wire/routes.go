package wire

// routes are the wires, by the endpoint that speaks each: a path without /v1. A
// new one is one row.
var routes = []struct {
	endpoint string
	wire     Wire
}{
	{"/chat/completions", Chat},
}

// For returns the wire of an endpoint, nil if its bodies are not read.
func For(endpoint string) Wire {
	for _, r := range routes {
		if r.endpoint == endpoint {
			return r.wire
		}
	}
	return nil
}
