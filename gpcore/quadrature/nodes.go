package quadrature

import (
	"errors"
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore/internal/check"
	"github.com/labtuner/tuner/gpcore/internal/vec"
	"github.com/labtuner/tuner/gpcore/sobol"
)

// Nodes is a rule for expectations over the random coordinates of a control set:
//
//	E[g(R)] = sum over q of Weight[q] * g(X[q]).
//
// X has one row per node, with the random coordinates in ascending order. A sampled
// joint distribution is its readings as rows; then Weight may be nil for equal
// weights.
type Nodes struct {
	X, Weight []float64
}

// nodeRule is the size of a rule: Gauss nodes by the number of random coordinates, Sobol
// points where there are more coordinates than that.
type nodeRule struct {
	upTo   float64 // largest spread over lengthscale that it is for
	gauss  [3][]int
	points int
}

// nodeRules are the smallest that, where the spread is up to about twice the lengthscale,
// are at least as accurate for the expected standard deviation as 1024 independent
// draws, and that fill whole panels.
var nodeRules = [...]nodeRule{
	{0.6, [3][]int{{8}, {6, 8}, {4, 4, 6}}, 120},
	{1, [3][]int{{8}, {6, 8}, {4, 5, 6}}, 120},
	{2, [3][]int{{16}, {8, 12}, {6, 6, 6}}, 240},
	{math.MaxFloat64, [3][]int{{24}, {12, 16}, {6, 7, 8}}, 240},
}

// coarseRule stands in for the full rule while a search screens.
var coarseRule = nodeRule{gauss: [3][]int{{3}, {3, 4}, {2, 2, 3}}, points: 16}

// coarsePoints bounds the readings that do so.
const coarsePoints = 16

// Rules makes rules for independent coordinates again and again, as lengthscales change: products of Gauss rules for up
// to three coordinates that are not held, scrambled Sobol points beyond. What point sets it compares does not depend on
// lengthscales and is kept, 24 sets of them. Nodes that it gives are its own: read only.
type Rules struct {
	marginals []Marginal
	seed      uint64
	scrambled []*scrambledSet // none before they are needed
}

// NewRules are rules for these coordinates, which must stay as they are. Nothing is computed yet.
func NewRules(m []Marginal, seed uint64) *Rules {
	return &Rules{marginals: m, seed: seed}
}

// Full is the rule for these lengthscales. The coordinate with the largest spread, in lengthscales, gets most nodes.
func (r *Rules) Full(lengthscale []float64) Nodes {
	ratio := 0.0
	for i := range r.marginals {
		ratio = max(ratio, r.marginals[i].spread()/lengthscale[i])
	}
	for _, rule := range nodeRules {
		if ratio <= rule.upTo {
			return r.nodes(rule, lengthscale)
		}
	}
	return r.nodes(nodeRules[len(nodeRules)-1], lengthscale) // an infinite ratio
}

// Coarse is the rule that stands in for the full one while a search screens.
func (r *Rules) Coarse(lengthscale []float64) Nodes { return r.nodes(coarseRule, lengthscale) }

func (r *Rules) nodes(rule nodeRule, lengthscale []float64) Nodes {
	m := r.marginals
	free := notPointMass(m)
	if len(free) > len(rule.gauss) {
		return r.bestSobol(lengthscale, rule.points)
	}
	slices.SortStableFunc(free, func(a, b int) int {
		ra, rb := m[a].spread()/lengthscale[a], m[b].spread()/lengthscale[b]
		switch {
		case ra < rb:
			return -1
		case ra > rb:
			return 1
		}
		return 0
	})
	count := make([]int, len(m))
	for k, i := range free {
		count[i] = rule.gauss[len(free)-1][k]
	}
	return GaussProduct(m, count)
}

// GaussProduct is the product of Gauss rules with this many nodes for each coordinate;
// one that is held has one node.
func GaussProduct(m []Marginal, count []int) Nodes {
	n := Nodes{X: []float64{}, Weight: []float64{1}}
	for i := range m {
		node, weight := m[i].gauss(count[i])
		var next Nodes
		for q, w := range n.Weight {
			for k, v := range node {
				next.X = append(append(next.X, n.X[q*i:(q+1)*i]...), v)
				next.Weight = append(next.Weight, w*weight[k])
			}
		}
		n = next
	}
	return n
}

// scrambles is how many scrambled point sets are compared.
const scrambles = 24

// bestSobol takes the best of several scrambled point sets: the one with the smallest
// worst-case error for functions of the squared exponential's space,
//
//	1/m^2 sum over q, r of k(x_q, x_r) - 2/m sum over q of E[k(x_q, R)] + a constant,
//
// which has a closed form. One in five scrambles is worse than 1024 draws at 120
// points; the best of 24 is not.
func (r *Rules) bestSobol(lengthscale []float64, points int) Nodes {
	for i := uint64(len(r.scrambled)); i < scrambles; i++ {
		r.scrambled = append(r.scrambled, newScrambledSet(r.marginals, r.seed+i*0x9e3779b97f4a7c15))
	}
	var best Nodes
	least, room := math.Inf(1), newDiscrepancy(r.marginals, lengthscale, points)
	for _, s := range r.scrambled {
		n := s.nodes(points)
		if e := room.of(n); e < least {
			best, least = n, e
		}
	}
	return best
}

// discrepancy is the squared worst-case error of nodes with equal weights, up to a constant.
type discrepancy struct {
	lengthscale []float64
	factors     []factorTable // of each coordinate
	rows, lanes []float64     // the nodes in lengthscales
	out, ones   []float64
}

func newDiscrepancy(m []Marginal, lengthscale []float64, points int) *discrepancy {
	d := len(m)
	e := &discrepancy{lengthscale, make([]factorTable, d), make([]float64, points*d), make([]float64, d*vec.Lanes), make([]float64, points*vec.Lanes), vec.Constant(points, 1)}
	for j := range e.factors {
		e.factors[j].fill(m[j], lengthscale[j])
	}
	return e
}

// factorTable has a marginal's Gaussian factors over its range: sets of points are compared by them, so that
// interpolation is as good as the exact ones.
type factorTable struct {
	low, perUnit float64
	value        [257]float64
}

func (t *factorTable) fill(m Marginal, l float64) {
	t.low, t.perUnit = m.low, 0
	if width := m.high - m.low; width > 0 {
		t.perUnit = float64(len(t.value)-1) / width
	}
	for i := range t.value {
		x := m.low + (m.high-m.low)*float64(i)/float64(len(t.value)-1)
		t.value[i] = m.GaussianFactor(x, l)
	}
}

func (t *factorTable) at(x float64) float64 {
	f := (x - t.low) * t.perUnit
	i := min(int(f), len(t.value)-2)
	f -= float64(i)
	return t.value[i] + f*(t.value[i+1]-t.value[i])
}

func (e *discrepancy) of(n Nodes) float64 {
	d, count := len(e.factors), len(n.Weight)
	single := 0.0
	for q := range count {
		factor := 1.0
		for j, v := range n.X[q*d : (q+1)*d] {
			factor *= e.factors[j].at(v)
			e.rows[q*d+j] = v * vec.GaussianScale / e.lengthscale[j]
		}
		single += factor
	}
	c := float64(count)
	return e.pairs(count)/(c*c) - 2*single/c
}

// pairs is the sum of the kernel over all pairs of nodes.
func (e *discrepancy) pairs(count int) float64 {
	d, total := len(e.factors), 0.0
	var sum [vec.Lanes]float64
	for from := 0; from < count; from += vec.Lanes {
		some := min(vec.Lanes, count-from)
		for l := range some {
			for j := range d {
				e.lanes[j*vec.Lanes+l] = e.rows[(from+l)*d+j]
			}
		}
		vec.Gaussian(&vec.Pairs{Rows: e.rows, Lanes: e.lanes, N: count, D: d, Variance: 1, Out: e.out, Weights: e.ones[:count], Sum: sum[:]})
		for _, v := range sum[:some] {
			total += v
		}
	}
	return total
}

// notPointMass are the coordinates that are not held.
func notPointMass(m []Marginal) []int {
	var free []int
	for i := range m {
		if m[i].kind != pointMass {
			free = append(free, i)
		}
	}
	return free
}

// SobolNodes maps scrambled Sobol points by the quantiles.
func SobolNodes(m []Marginal, seed uint64, points int) Nodes {
	return newScrambledSet(m, seed).nodes(points)
}

// scrambledSet are the first points of a scrambled Sobol sequence, mapped by the quantiles: as many as were asked for.
type scrambledSet struct {
	marginals []Marginal
	sequence  *sobol.Owen
	u         []float64 // a point
	x         []float64
}

func newScrambledSet(m []Marginal, seed uint64) *scrambledSet {
	free := notPointMass(m)
	return &scrambledSet{marginals: m, sequence: sobol.NewOwen(len(free), seed), u: make([]float64, len(free))}
}

// nodes are the first points, with equal weights.
func (s *scrambledSet) nodes(points int) Nodes {
	d := len(s.marginals)
	for q := len(s.x) / d; q < points; q++ {
		s.sequence.Point(s.u, q)
		k := 0
		for i := range s.marginals {
			if s.marginals[i].kind == pointMass {
				s.x = append(s.x, s.marginals[i].mean)
				continue
			}
			s.x = append(s.x, s.marginals[i].quantile(s.u[k]))
			k++
		}
	}
	return Nodes{X: s.x[: points*d : points*d], Weight: vec.Constant(points, 1/float64(points))}
}

// Checked is a copy of a caller's nodes with d coordinates: positive weights that sum
// to one, nodes of weight zero left out.
func (n Nodes) Checked(d int) (Nodes, error) {
	count := len(n.Weight)
	if n.Weight == nil && d > 0 {
		count = len(n.X) / d
		n.Weight = vec.Constant(count, 1)
	}
	if count == 0 || len(n.X) != count*d {
		return Nodes{}, errors.New("gpcore: nodes need one row of the random coordinates for each weight, at least one")
	}
	if err := check.Finite(check.NameX, n.X); err != nil {
		return Nodes{}, err
	}
	var out Nodes
	sum := 0.0
	for q, w := range n.Weight {
		if !check.IsFinite(w) || w < 0 {
			return Nodes{}, errors.New("gpcore: weights of nodes must be finite and not negative")
		}
		if w > 0 {
			out.X = append(out.X, n.X[q*d:(q+1)*d]...)
			out.Weight = append(out.Weight, w)
			sum += w
		}
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return Nodes{}, errors.New("gpcore: weights of nodes must have a positive, finite sum")
	}
	for q := range out.Weight {
		out.Weight[q] /= sum
	}
	return out, nil
}

// Thinned is every so many-th node with equal weights, at most coarsePoints of them.
func (n Nodes) Thinned(d int) Nodes {
	count := len(n.Weight)
	step := (count + coarsePoints - 1) / coarsePoints
	var out Nodes
	for q := 0; q < count; q += step {
		out.X = append(out.X, n.X[q*d:(q+1)*d]...)
		out.Weight = append(out.Weight, n.Weight[q])
	}
	sum := 0.0
	for _, w := range out.Weight {
		sum += w
	}
	for q := range out.Weight {
		out.Weight[q] /= sum
	}
	return out
}
