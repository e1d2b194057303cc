package safety

import (
	"encoding/json"
	"iter"
	"math/bits"
	"slices"
	"strconv"
)

// maxSubjects is how many sensors, variables or links a cause can distinguish.
const maxSubjects = MaxVariables

// Set is a set of numbers from 0 to 255.
type Set [(maxSubjects + 63) / 64]uint64

// Add puts a number into the set.
func (s *Set) Add(i int) { s[uint(i)/64%uint(len(s))] |= 1 << (uint(i) % 64) }

// Has reports whether a number is in the set.
func (s *Set) Has(i int) bool { return s[uint(i)/64%uint(len(s))]&(1<<(uint(i)%64)) != 0 }

// Empty reports whether nothing is in the set.
func (s *Set) Empty() bool { return *s == Set{} }

// Join adds another set.
func (s *Set) Join(more Set) {
	for k := range s {
		s[k] |= more[k]
	}
}

// Without is what is in the set and not in another.
func (s Set) Without(other Set) Set {
	for k := range s {
		s[k] &^= other[k]
	}
	return s
}

// MarshalJSON writes the word of a set below 64 as a number, as records have it from when
// there was no other, and any other as a list of words.
func (s Set) MarshalJSON() ([]byte, error) {
	if rest := s[1:]; !slices.ContainsFunc(rest, func(w uint64) bool { return w != 0 }) {
		return strconv.AppendUint(nil, s[0], 10), nil
	}
	return json.Marshal(s[:])
}

// UnmarshalJSON reads both forms.
func (s *Set) UnmarshalJSON(text []byte) error {
	*s = Set{}
	if word, err := strconv.ParseUint(string(text), 10, 64); err == nil {
		s[0] = word
		return nil
	}
	return json.Unmarshal(text, (*[len(s)]uint64)(s))
}

// Causes is a set of causes: for each rule, what it is about, by the number of the sensor,
// variable, link, interlock or dose.
type Causes [RuleCount]Set

// Add puts a cause into the set.
func (c *Causes) Add(r Rule, subject int) { c[r].Add(subject) }

// Has reports whether a rule is in the set.
func (c *Causes) Has(r Rule) bool { return !c[r].Empty() }

// All goes through the causes: each rule with the index of what it is about.
func (c Causes) All() iter.Seq2[Rule, int] {
	return func(yield func(Rule, int) bool) {
		for r := range RuleCount {
			for k, of := range c[r] {
				for ; of != 0; of &= of - 1 {
					if !yield(r, 64*k+bits.TrailingZeros64(of)) {
						return
					}
				}
			}
		}
	}
}

// Empty reports whether nothing is in the set.
func (c *Causes) Empty() bool { return *c == Causes{} }

// Join adds another set.
func (c *Causes) Join(more *Causes) {
	if more.Empty() { // mostly
		return
	}
	for r := range c {
		c[r].Join(more[r])
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
