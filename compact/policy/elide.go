package policy

import (
	"laconic/compact"
	"laconic/compact/stage"
)

// elide is the policy of helexa: the texts of old tool results, then old prose,
// become markers, oldest first, until the request fits. Calls, ids, arguments,
// users and instructions stay. A request that does not fit then is over.
type elide struct {
	Keep     int `json:"keep" min:"1" unit:"messages" says:"the last messages are never elided"`
	MinBytes int `json:"min_bytes" min:"0" unit:"bytes" says:"shorter texts stay as they are"`
}

func (o elide) policy() *compact.Policy {
	return &compact.Policy{
		Trigger: 1, Land: 1, PerRequest: &compact.PerRequest{},
		Counter:    compact.Estimator{PerToken: 3.5, PerMessage: 8, PerMedia: 438}, // an image: 512 × 3 characters
		KeepRecent: compact.KeepRecent{Messages: o.Keep},
		Ladder:     stage.BareElision(o.MinBytes),
	}
}
