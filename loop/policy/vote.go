package policy

import "math"

// vote judges where a control set's settings fail, by a kernel-weighted count of
// its own steps that gave data and of those that did not:
//
//	p(x) = F(x) / (F(x) + V(x) + 1/2),   F(x) = sum over failed steps of k(x, x_i),
//
// V the same over valid steps, k(x, y) = exp(-|x-y|^2/(2 l^2)), l = 0.1 sqrt(c) of
// the range for c controlled variables. A setting with p > 1/2 is not proposed
// while another is left. One failure without valid steps nearby excludes a ball of
// radius about 1.2 l around it; one valid step at the same place readmits it, so a
// loss of data by accident does not close a good region for ever. A failed step
// is no number: it never enters the model of the objective.
type vote struct {
	size  int
	width float64
	limit int
	// failed and valid hold settings, row after row, the oldest first.
	failed, valid []float64
}

func newVote(size, limit int) *vote {
	return &vote{size: size, width: 0.1 * math.Sqrt(float64(size)), limit: limit}
}

// add counts a step at setting x; of each kind the latest limit are kept.
func (v *vote) add(x []float64, valid bool) {
	list := &v.failed
	if valid {
		list = &v.valid
	}
	if len(*list) >= v.limit*v.size {
		*list = append((*list)[:0], (*list)[v.size:]...)
	}
	*list = append(*list, x...)
}

// risk is p(x).
func (v *vote) risk(x []float64) float64 {
	if len(v.failed) == 0 {
		return 0
	}
	f := v.weigh(v.failed, x)
	return f / (f + v.weigh(v.valid, x) + 0.5)
}

func (v *vote) weigh(list, x []float64) float64 {
	s := 0.0
	for i := 0; i < len(list); i += v.size {
		s += math.Exp(-squaredDistance(list[i:i+v.size], x) / (2 * v.width * v.width))
	}
	return s
}

// penalty is 0 where a setting may be proposed, else larger than any difference
// of acquisition values (which are of order 1), and growing with the risk: where
// everything is excluded, the least risky setting wins.
func (v *vote) penalty(x []float64) float64 {
	if p := v.risk(x); p > 0.5 {
		return 1e6 * (1 + p)
	}
	return 0
}
