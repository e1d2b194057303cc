package policy

import "github.com/labtuner/tuner/gpcore"

// exploreNoise is RAHBO-US, the two-stage baseline of Makarova et al. (NeurIPS 2021,
// section 5): the noise is explored first, by uncertainty sampling,
//
//	a(x) = E_R[ sd of the noise process at (x, R) ],
//
// for so many decisions after the initial design; then settings are chosen as if what was
// learnt of the noise were known: upperBound with the noise variance that is expected in
// place of its lower bound. The paper leaves open how long the first stage is (10 steps in
// its figures) and what the second does with the sample variances that it brings: here
// they go on being learnt from, as do the means of the first stage. On the log scale the
// standard deviation is that of the logarithm.
type exploreNoise struct {
	upperBound
	until int // the last step of the first stage
}

// defaultExploreSteps is the length of RAHBO-US's first stage.
const defaultExploreSteps = 10

func (a exploreNoise) options(d *decision) ([]option, error) {
	if field := d.criterion.model.v; d.step <= a.until && field != nil {
		objectives, err := d.expectations([]gpcore.Term{{Process: field.gp, SD: 1}})
		if err != nil {
			return nil, err
		}
		var out []option
		for i, set := range d.sets {
			out = append(out, option{set: set, view: d.views[0], objective: objectives[i], unit: pure})
		}
		return out, nil
	}
	d.noiseBeta = 0
	return a.upperBound.options(d)
}
