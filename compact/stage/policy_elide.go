package stage

import "laconic/compact"

// elidePolicy is helexa's: payloads of old tool results, then old prose, become
// markers, oldest first, until the request fits. Calls, ids and arguments stay,
// users and instructions are never touched, nothing ever leaves; what does not
// fit then is over.
type elidePolicy struct {
	Keep     int `json:"keep"`      // the last messages, never elided
	MinBytes int `json:"min_bytes"` // shorter texts stay as they are
}

func (o *elidePolicy) check() error {
	if o.MinBytes < 0 {
		return errMinBytes
	}
	return keepAtLeast(1, o.Keep)
}

func newElidePolicy(raw []byte) (*compact.Policy, error) {
	o := elidePolicy{Keep: 4, MinBytes: 256}
	if err := policyOptions("elide", &o, raw); err != nil {
		return nil, err
	}
	return &compact.Policy{
		Name: "elide", Once: true, Trigger: 1, Land: 1,
		Counter:    compact.BytesPerToken(3.5),
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder: []compact.Stage{
			&elide{MinBytes: o.MinBytes, name: "elide_results", of: ofResult, bare: true},
			&elide{MinBytes: o.MinBytes, name: "elide_prose", of: ofProse, bare: true},
		},
	}, nil
}
