package optimum

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distmv"
	"gonum.org/v1/gonum/stat/samplemv"
)

// How many points an expectation over random variables takes: coarseNodes while
// searching for starts, fineNodes for every value that leaves the package.
const (
	coarseNodes = 64
	fineNodes   = 2048
)

// latticeVector generates a rank-1 lattice whose first 2^m points are good for
// every m up to 20 (Cools, Kuo, Nuyens, SIAM J. Sci. Comput. 28, 2162, 2006; the
// first components of their vector of order-2 weights).
var latticeVector = [8]uint32{1, 182667, 469891, 498753, 110745, 446247, 250185, 118627}

// spreadOut returns n points, n a power of two, in (0,1)^dim: of a lattice, where the
// baker's transform x -> 1 - |2x-1| makes the error of an average over a smooth
// function fall as 1/n² instead of 1/n (Hickernell, 2002), or in more dimensions than its vector has, of Halton's
// sequence, scrambled by Owen's method and always the same.
func spreadOut(n, dim int) [][]float64 {
	all := make([][]float64, n)
	if dim > len(latticeVector) {
		points, src := mat.NewDense(n, dim, nil), rand.NewPCG(1, 1)
		samplemv.Halton{Kind: samplemv.Owen, Q: distmv.NewUnitUniform(dim, src), Src: src}.Sample(points)
		for i := range all {
			all[i] = points.RawRowView(i)
		}
		return all
	}
	for i := range all {
		all[i] = make([]float64, dim)
		for k := range all[i] {
			x := (float64(uint64(i)*uint64(latticeVector[k])%uint64(n)) + 0.5) / float64(n)
			all[i][k] = 1 - math.Abs(2*x-1)
		}
	}
	return all
}

// expectation returns a function of a point of the cube that gives the value of a
// control set there: the average over its random variables. The function leaves u
// as it is.
func (j *judge) expectation(set, nodes int) func(u []float64) float64 {
	controlled := j.sets[set]
	free := []int{} // the axes that vary
	base := make([]float64, j.dim())
	for i, c := range controlled {
		switch {
		case c:
		case j.plant.Axes[i].Idle:
			base[i] = 0.5
		case j.plant.Axes[i].Quantile == nil:
			base[i] = j.plant.Axes[i].Held
		default:
			free = append(free, i)
		}
	}
	if j.plant.Average != nil && j.query.Formula == nil && len(j.query.Bounds) == 0 && len(free) > 0 && !j.stepped(free) {
		average := j.plant.Average(controlled)
		return func(u []float64) float64 {
			w := slices.Clone(u)
			j.roundToDevice(w)
			mean, variance, spread := average(w)
			return j.score(mean, variance+j.query.counts()*spread)
		}
	}
	if len(free) == 0 {
		nodes = 1
	}
	draws := j.draws(free, nodes)
	return func(u []float64) float64 {
		w := slices.Clone(base)
		for i, c := range controlled {
			if c {
				w[i] = u[i]
			}
		}
		sum, noise, broken := 0.0, 0.0, 0
		average, squares := 0.0, 0.0 // of the means so far, by Welford's update
		for n, draw := range draws {
			for k, i := range free {
				w[i] = draw[k]
			}
			j.roundToDevice(w)
			mean, variance := j.moments(w)
			sum, noise = sum+mean, noise+variance
			delta := mean - average
			average += delta / float64(n+1)
			squares += delta * (mean - average)
			if !j.keeps(w) {
				broken++
			}
		}
		n := float64(len(draws))
		return j.kept(j.score(sum/n, (noise+j.query.counts()*squares)/n), broken, len(draws))
	}
}

// stepped reports whether one of these axes has levels.
func (j *judge) stepped(axes []int) bool {
	return slices.ContainsFunc(axes, func(i int) bool { return j.plant.Axes[i].Nearest != nil })
}

// draws returns nodes points of the joint distribution of these axes, spread
// evenly.
func (j *judge) draws(axes []int, nodes int) [][]float64 {
	draws := spreadOut(nodes, len(axes))
	for _, draw := range draws {
		for k, i := range axes {
			draw[k] = j.plant.Axes[i].Quantile(draw[k])
		}
	}
	return draws
}
