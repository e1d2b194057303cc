//go:build !purego && (amd64 || arm64)

package vec

// pairArgs is Pairs for the assembly kernels, which know the places of the fields
// (see gen/pairs.go). Without weights the step is zero: one weight serves all rows
// and the sums go to waste.
type pairArgs struct {
	n, d             int
	rows, lanes, out *float64
	variance         float64
	weights          *float64
	step             int // bytes from a weight to the next
	sum              *float64
}

// pairArgsAVX2 is it with the scratch that the AVX2 kernels look for behind it.
type pairArgsAVX2 struct {
	pairArgs
	waiting [Lanes]float64
}

// spare stands in for weights and sums.
type spare [Lanes + 1]float64

// args prepares a panel with N and D above zero for a kernel.
func (p *Pairs) args(s *spare) pairArgs {
	a := pairArgs{
		n: p.N, d: p.D, rows: &p.Rows[0], lanes: &p.Lanes[0], out: &p.Out[0], variance: p.Variance,
		weights: &s[Lanes], sum: &s[0],
	}
	if p.Weights != nil {
		a.weights, a.step, a.sum = &p.Weights[0], 8, &p.Sum[0]
	}
	return a
}
