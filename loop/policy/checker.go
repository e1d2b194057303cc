package policy

import (
	"fmt"
	"slices"
	"strings"
)

// checker collects what is wrong with a specification.
type checker struct {
	spec     *Spec
	problems []error
}

func (c *checker) fail(format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf(format, args...))
}

// oneOf checks a name against those that exist.
func (c *checker) oneOf(what, name string, names ...string) bool {
	if slices.Contains(names, name) {
		return true
	}
	c.fail("%s %q is not known: use one of %s", what, name, strings.Join(names, ", "))
	return false
}
