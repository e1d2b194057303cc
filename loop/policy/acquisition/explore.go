package acquisition

import "github.com/labtuner/tuner/gpcore/expectations"

// ExploreNoise is RAHBO-US, the two-stage baseline of Makarova et al. (NeurIPS 2021,
// section 5): the noise is explored first, by uncertainty sampling,
//
//	a(x) = E_R[ sd of the noise process at (x, R) ],
//
// for so many decisions after the initial design; then settings are chosen as if what was
// learnt of the noise were known: UpperBound with the noise variance at the mean of its process, on
// the log scale its median, in place of its lower bound. The first stage takes 10 samples in the paper's figures,
// beside those that are counted (its appendix A.6.2). The paper leaves open what the second does with the sample variances that it brings: here
// they go on being learnt from, as do the means of the first stage. On the log scale the
// standard deviation is that of the logarithm.
type ExploreNoise struct {
	UpperBound
	Until int // the last step of the first stage
}

// DefaultExploreSteps is the length of RAHBO-US's first stage.
const DefaultExploreSteps = 10

func (a ExploreNoise) Options(d *Decision) ([]Option, error) {
	if field := d.Criterion.Model.Noise; d.Step <= a.Until && field != nil {
		objectives, err := d.Expectations([]expectations.Term{{Process: field.GP, SD: 1}})
		if err != nil {
			return nil, err
		}
		var out []Option
		for i, set := range d.Sets {
			out = append(out, Option{Set: set, View: d.Views[0], Objective: objectives[i], Unit: Dimensionless})
		}
		return out, nil
	}
	d.NoiseBeta = 0
	return a.UpperBound.Options(d)
}
