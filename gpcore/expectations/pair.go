package expectations

import (
	"errors"
	"slices"

	"github.com/labtuner/tuner/gpcore/quadrature"
)

// Pair is two expectations of the same processes over the same inputs, which are evaluated side by
// side for little more than the cost of one, with the values that each has alone, to the last bit.
type Pair struct {
	first  *Expected
	second Expected // with the scratch of the first
}

// Values are values of an expectation and, where Grad is not nil, their gradients.
type Values struct{ Value, Grad []float64 }

// NewPair makes a pair. It returns an error where processes or inputs differ.
func NewPair(first, second *Expected) (Pair, error) {
	same := slices.EqualFunc(first.terms, second.terms, func(a, b Term) bool { return a.Process == b.Process })
	if !same || !sameInputs(&first.in, &second.in) {
		return Pair{}, errors.New("gpcore: a pair needs two expectations of the same processes over the same inputs")
	}
	return Pair{first, Expected{second.controlSet, first.s}}, nil
}

// Fork is the same pair with its own scratch, as [Expected.Fork].
func (p *Pair) Fork() Pair {
	f := p.first.Fork().(*Expected)
	return Pair{f, Expected{p.second.controlSet, f.s}}
}

// Follow makes a fork one of another pair, as [Expected.Follow].
func (p *Pair) Follow(o Pair) bool {
	return p.first.Follow(o.first) && p.second.Follow(&o.second)
}

// Evaluate sets a to the first one's values at the rows of x and b to the second one's.
func (p *Pair) Evaluate(a, b Values, x []float64) { p.over(&p.first.nodes, a, b, x) }

// Surrogates does so with the values of the surrogates.
func (p *Pair) Surrogates(a, b Values, x []float64) {
	if p.first.boundable() || p.second.boundable() {
		p.first.SurrogateGradients(a.Value, a.Grad, x)
		p.second.SurrogateGradients(b.Value, b.Grad, x)
		return
	}
	p.over(&p.first.coarse, a, b, x)
}

func (p *Pair) over(nodes *quadrature.Nodes, a, b Values, x []float64) {
	p.first.s.output(0, p.first.controlSet, a.Value, a.Grad)
	p.first.s.output(1, p.second.controlSet, b.Value, b.Grad)
	p.first.evaluateAll(nodes, x, 2)
}
