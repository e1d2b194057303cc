package safety

import (
	"iter"
	"math/bits"
)

// maxSubjects is how many sensors, variables or links a cause can distinguish.
const maxSubjects = 32

// Causes is a set of causes: for each rule, one bit for each sensor, variable,
// link, interlock or dose that it is about.
type Causes [RuleCount]uint32

// Add puts a cause into the set.
func (c *Causes) Add(r Rule, subject int) { c[r] |= 1 << (subject & (maxSubjects - 1)) }

// Has reports whether a rule is in the set.
func (c *Causes) Has(r Rule) bool { return c[r] != 0 }

// All goes through the causes: each rule with the index of what it is about.
func (c Causes) All() iter.Seq2[Rule, int] {
	return func(yield func(Rule, int) bool) {
		for r := range RuleCount {
			for of := c[r]; of != 0; of &= of - 1 {
				if !yield(r, bits.TrailingZeros32(of)) {
					return
				}
			}
		}
	}
}

// Empty reports whether nothing is in the set.
func (c *Causes) Empty() bool { return *c == Causes{} }

// join adds another set.
func (c *Causes) join(more *Causes) {
	if more.Empty() { // mostly
		return
	}
	for r := range c {
		c[r] |= more[r]
	}
}

// Reasons is a set of rules that acted on one variable in one tick.
type Reasons uint64

// add puts a rule into the set.
func (r *Reasons) add(rule Rule) { *r |= 1 << rule }

// Has reports whether a rule is in the set.
func (r Reasons) Has(rule Rule) bool { return r&(1<<rule) != 0 }

// Names returns the names of the rules, in the order of their numbers.
func (r Reasons) Names() []string {
	var out []string
	for rule := range RuleCount {
		if r.Has(rule) {
			out = append(out, rule.String())
		}
	}
	return out
}
