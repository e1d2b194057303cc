package space

import (
	"math"
	"slices"
)

// learntWeight is how many readings the uniform distribution, with which a learnt
// one starts, is worth.
const learntWeight = 10

// readings holds what learnt variables did while they were left alone: one row per
// observation, NaN where the variable was controlled or is not learnt. A row is
// kept whole, so that the joint distribution of variables that move together is
// kept; a value that was set says nothing about what the variable does by itself.
type readings struct {
	limit int
	Rows  [][]float64
}

func (r *readings) add(values []float64) {
	if len(r.Rows) >= r.limit {
		r.Rows = slices.Delete(r.Rows, 0, 1)
	}
	r.Rows = append(r.Rows, values)
}

// joint lists the rows in which all of the variables were read.
func (r *readings) joint(variables []int) [][]float64 {
	var out [][]float64
	for _, row := range r.Rows {
		if !slices.ContainsFunc(variables, func(i int) bool { return math.IsNaN(row[i]) }) {
			out = append(out, row)
		}
	}
	return out
}
