package policy_test

import (
	"fmt"

	"laconic/compact/policy"
)

// A policy that people know, by its name.
func ExampleNew() {
	p, err := policy.New("layered", []byte(`{"threshold": 0.7, "keep": 4}`))
	fmt.Println(p.Name, err)
	_, err = policy.New("layered", []byte(`{"threshold": 0.3}`))
	fmt.Println(err)
	// Output:
	// layered <nil>
	// layered: threshold must be between 0.5 and 0.95
}
