package model

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/gpcore"
)

// shotError is what one shot says of the noise: its squared error against the prediction from
// all other observations, and the variance of what is predicted without the shot's own noise
// (doubt). Where the noise variance is v the error is normal with variance v + doubt, so
//
//	square/(v + doubt) has a chi-squared distribution of one degree of freedom.
type shotError struct{ square, doubt float64 }

// Moments of u^(1/3) for u of a chi-squared distribution of one degree of freedom: the cube root
// is close to normal (Wilson and Hilferty 1931), which the logarithm is not. So what is learnt
// from a shot has sampling variance cubeVariance on the logarithm's scale, where the logarithm
// itself has trigamma(1/2) = 4.93 and the best that there is 2.
const (
	cubeMean     = 0.8023806 // 2^(1/3) Gamma(5/6)/Gamma(1/2)
	cubeVariance = 2.614754  // Var[u^(1/3)] (3/cubeMean)^2
	// greatestStep cuts how far from what is expected a target lies: the first order reaches no
	// farther, and rounds follow.
	greatestStep = 4
	// greatestDoubt cuts (v + doubt)/v: such a shot says nothing of the noise.
	greatestDoubt = 1e4
	// residualRounds are enough where they start from the level of all shots: each takes
	// errors from the objective under the noise of the one before.
	residualRounds = 2
)

// target is what the process of the noise learns from the error where it expects the logarithm
// of the variance to be now: with t = v + doubt, the total, to first order in log v,
//
//	3 (u^(1/3)/cubeMean - 1) is (log v - now) v/t + sampling noise,   u = square/t.
//
// Where doubt is most of the total the sampling variance of the target is accordingly great.
func (e shotError) target(now float64) (y, variance float64) {
	v := math.Exp(now)
	ratio := min(1+e.doubt/v, greatestDoubt)
	step := ratio * 3 * (math.Cbrt(e.square/(v*ratio))/cubeMean - 1)
	return now + max(-greatestStep, min(step, greatestStep)), ratio * ratio * cubeVariance
}

// alone is the variance as the error alone says it, less the share of the doubt.
func (e shotError) alone(now float64) float64 {
	v := math.Exp(now)
	return e.square * v / (v + e.doubt)
}

// informative reports whether a row tells something about the noise.
func (m *Rules) informative(r *Row) bool { return r.hasVariance() || m.single(r) }

// single reports whether a row is one shot that tells something about the noise.
func (m *Rules) single(r *Row) bool { return m.Learnt && m.Singles && r.Shots == 1 }

// informatives counts the rows that tell something about the noise.
func (m *Rules) informatives(rows []Row) int {
	n := 0
	for i := range rows {
		if m.informative(&rows[i]) {
			n++
		}
	}
	return n
}

// hasSingles reports whether some of the rows are single shots that do.
func (m *Rules) hasSingles(rows []Row) bool {
	return slices.ContainsFunc(rows, func(r Row) bool { return m.single(&r) })
}

// shotErrors are the errors of all observations of a process, in its unit squared.
func shotErrors(g *gpcore.GP) []shotError {
	n := g.Len()
	mean, variance := make([]float64, n), make([]float64, n)
	g.LeaveOneOut(mean, variance)
	out := make([]shotError, n)
	for i := range out {
		d := g.Target(i) - mean[i]
		out[i] = shotError{d * d, max(variance[i]-g.NoiseVariance(i), 0)}
	}
	return out
}

// learnNoise teaches the process of the noise what the rows say of it, and gives the bound of the
// noise variance of each row's mean. It returns what was learnt last ([Rules.teachNoise]).
func (m *Rules) learnNoise(g *gpcore.GP, field *NoiseField, h *Hyper, rows []Row, open bool) (l lessons, noise []float64, err error) {
	if l, err = m.teachNoise(g, field, h, rows, open); err != nil {
		return l, nil, err
	}
	noise = make([]float64, len(rows))
	field.limit(l.estimates, h.Scale)
	field.OfMeans(noise, rows, m.Beta)
	return l, noise, nil
}

// teachNoise teaches the process of the noise what the rows say of it. Single shots teach it by their errors under the objective's
// posterior, which depends on the noise, so there are rounds; g is the objective's process, of
// no use where there are none, and what it is left with has no meaning. open says that the level of the noise is a guess. It
// returns what was learnt last. O(n^3) with a constant of 1/3, with single shots of 4/3.
func (m *Rules) teachNoise(g *gpcore.GP, field *NoiseField, h *Hyper, rows []Row, open bool) (lessons, error) {
	if m.hasSingles(rows) {
		return m.learnFromSingles(g, field, h, rows, open)
	}
	q := *h.noise
	l := m.lessons(&q, rows, h.Scale, nil, nil)
	return l, field.learn(&q, l)
}

// learnFromSingles is teachNoise with single shots.
func (m *Rules) learnFromSingles(g *gpcore.GP, field *NoiseField, h *Hyper, rows []Row, open bool) (l lessons, err error) {
	x, z := standardised(rows, h)
	now, noise := slices.Repeat([]float64{h.noise.Mean}, len(rows)), make([]float64, len(rows))
	for range residualRounds {
		for i := range rows {
			noise[i] = max(math.Exp(now[i]), MinNoise) / float64(rows[i].Shots)
		}
		if err := LoadWithJitter(g, x, z, noise); err != nil {
			return l, err
		}
		q := *h.noise
		l = m.lessons(&q, rows, h.Scale, shotErrors(g), now)
		if open {
			q.Mean = l.level(h.noise.Mean)
		}
		if err := field.learn(&q, l); err != nil {
			return l, err
		}
		field.levels(now, rows)
	}
	return l, nil
}

// lessons are what rows teach the process of the noise: targets at points with their sampling
// variances, and what each says alone, in squared units of the objective.
type lessons struct{ x, y, variance, estimates []float64 }

// lessons takes them from the rows. errors are those of single shots in squared units of the
// standardised objective, and now is what the process expects at each row.
func (m *Rules) lessons(h *noiseHyper, rows []Row, scale float64, errors []shotError, now []float64) lessons {
	var out lessons
	out.x = make([]float64, 0, len(rows)*m.Dims)
	for _, s := range []*[]float64{&out.y, &out.variance, &out.estimates} {
		*s = make([]float64, 0, len(rows))
	}
	for i := range rows {
		r := &rows[i]
		var y, variance, alone float64
		switch {
		case r.hasVariance():
			alone = r.Variance
			y, variance = h.link.target(alone/(scale*scale), r.Shots)
		case m.single(r):
			y, variance = errors[i].target(now[i])
			alone = errors[i].alone(now[i]) * scale * scale
		default:
			continue
		}
		out.x, out.y = append(out.x, r.X...), append(out.y, y)
		out.variance, out.estimates = append(out.variance, variance), append(out.estimates, alone)
	}
	return out
}

// level is the mean of the targets, each by what it tells beside the spread of the process, with a
// prior around a guess.
func (l lessons) level(guess float64) float64 {
	weight := 1 / (noiseLogSD * noiseLogSD)
	sum := weight * guess
	for i, y := range l.y {
		w := 1 / (l.variance[i] + 1)
		sum += w * y
		weight += w
	}
	return sum / weight
}
