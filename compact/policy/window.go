package policy

import (
	"laconic/compact"
	"laconic/compact/stage"
)

// windowPolicy is ailoop's TruncateStrategy: see compact.Truncate.
type windowPolicy struct {
	Keep int `json:"keep" check:"min=1" unit:"messages" says:"the last messages stay, and what stands before them back to a user message"`
}

var windowDefaults = windowPolicy{Keep: compact.DefaultTruncate}

func newWindowPolicy(raw []byte) (*compact.Policy, error) {
	o := windowDefaults
	if err := stage.ReadOptions("window", &o, raw); err != nil {
		return nil, err
	}
	return compact.Truncate(o.Keep), nil
}
