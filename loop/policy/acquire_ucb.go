package policy

// upperBound is the optimistic bound of the mean-variance objective,
//
//	a(x) = E[ mean(x, R) + beta sd(x, R) - alpha v(x, R) ] - alpha Var[ mean(x, R) ]
//
// over the random variables R (for the last term see spreadRisk), with v the lower bound of the noise variance, or the
// variance itself where it is known. It is
// GP-UCB's acquisition (alpha = 0, no R), RAHBO's (alpha > 0; Makarova et al., NeurIPS
// 2021, eq. 8) and UCB-CVS's (R; Tay et al., NeurIPS 2023, Algorithm 1).
type upperBound struct{}

func (upperBound) options(d *decision) ([]option, error) {
	var out []option
	for _, v := range d.views {
		terms := append(v.linear(1, d.beta), d.criterion.terms(d.noiseBeta)...)
		objectives, err := d.expectations(terms)
		if err != nil {
			return nil, err
		}
		for i, set := range d.sets {
			out = append(out, option{set: set, view: v, objective: d.criterion.lessSpread(d.criterion.lessKnownRisk(objectives[i], d.domains[set]), v, d.domains[set], d.step), offset: v.offset()})
		}
	}
	return out, nil
}
