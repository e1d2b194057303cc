package acquisition

// UpperBound is the optimistic bound of the mean-variance objective,
//
//	a(x) = E[ mean(x, R) + beta sd(x, R) - alpha v(x, R) ] - alpha w(x)
//
// over the random variables R, with v the lower bound of the noise variance, or the variance
// itself where it is known, and w that of Var[f(x, R)] (risk.SpreadRisk). It is
// GP-UCB's acquisition (alpha = 0, no R), RAHBO's (alpha > 0; Makarova et al., NeurIPS
// 2021, eq. 8) and UCB-CVS's (R; Tay et al., NeurIPS 2023, Algorithm 1).
type UpperBound struct{}

func (UpperBound) Options(d *Decision) ([]Option, error) {
	out := d.options()
	for _, v := range d.Views {
		terms := d.Criterion.Terms(d.linear(v, 1, d.Beta), d.NoiseBeta)
		objectives, err := d.objectiveValues(terms)
		if err != nil {
			return nil, err
		}
		for i, set := range d.Sets {
			out = append(out, Option{Set: set, View: v, Objective: d.Criterion.Subtract(objectives[i], d.Evaluation(v, set), d.Beta), Offset: v.Offset(), Steady: true})
		}
	}
	return out, nil
}
