package policy

import (
	"laconic/compact"
	"laconic/compact/stage"
)

// elidePolicy is helexa's: payloads of old tool results, then old prose, become
// markers, oldest first, until the request fits. Calls, ids and arguments stay,
// users and instructions are never touched, nothing ever leaves; what does not
// fit then is over.
type elidePolicy struct {
	Keep     int `json:"keep" check:"min=1" unit:"messages" says:"the last messages are never elided"`
	MinBytes int `json:"min_bytes" check:"min=0" unit:"bytes" says:"shorter texts stay as they are"`
}

var elideDefaults = elidePolicy{Keep: 4, MinBytes: 256}

func newElidePolicy(raw []byte) (*compact.Policy, error) {
	o := elideDefaults
	if err := stage.ReadOptions("elide", &o, raw); err != nil {
		return nil, err
	}
	return &compact.Policy{
		Name: "elide", Once: true, Trigger: 1, Land: 1,
		Counter:    compact.Estimator{PerToken: 3.5, PerMessage: 8, PerMedia: 438}, // an image: 512 × 3 characters
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder:     stage.BareElision(o.MinBytes),
	}, nil
}
