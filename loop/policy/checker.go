package policy

import (
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a Spec.
type Problem struct {
	// Key is that of a configuration file, such as "policy.kind" or "variable.power".
	Key string
	// What is wrong, with the value and the bound.
	What string
}

// Error implements error.
func (p *Problem) Error() string { return p.What }

// checker collects what is wrong with a specification.
type checker struct {
	spec     *Spec
	problems []error
}

// fail notes a problem of a key.
func (c *checker) fail(key, format string, args ...any) {
	c.problems = append(c.problems, &Problem{Key: key, What: fmt.Sprintf(format, args...)})
}

// oneOf checks a name against those that exist.
func (c *checker) oneOf(key, what, name string, names ...string) bool {
	if slices.Contains(names, name) {
		return true
	}
	c.fail(key, "%s %q is not known: use one of %s", what, name, strings.Join(names, ", "))
	return false
}
