package policy

// riskCasts are the specifications of risk and confidence that the tests of determinism
// run.
func riskCasts() map[string]Spec {
	data := rahboSpec(2, 31)
	data.Confidence, data.InitialSteps = "data", 4
	rgp := withCandidates(rahboSpec(2, 32), 40)
	rgp.Kind, rgp.Risk, rgp.Confidence, rgp.InitialSteps = "gp-ucb", 0, "rgp", 3
	known := rahboSpec(2, 33)
	known.Kind, known.InitialSteps = "rahbo-known-variance", 4
	known.Model = knownSpec().Model
	known.NoiseVariance = func(x []float64) float64 { return 0.01 * (1 + x[0]) }
	first := rahboSpec(2, 34)
	first.Kind, first.InitialSteps, first.ExploreSteps = "rahbo-us", 4, 5
	return map[string]Spec{"rahbo known variance": known, "rahbo-us": first, "rahbo data": data, "gp-ucb rgp, listed": rgp}
}
