package policy

// riskCasts are the specifications of risk and confidence that the tests of determinism
// run.
func riskCasts() map[string]Spec {
	data := rahboSpec(2, 31)
	data.Confidence, data.InitialSteps = "data", 4
	rgp := withCandidates(rahboSpec(2, 32), 40)
	rgp.Kind, rgp.Risk, rgp.Confidence, rgp.InitialSteps = "gp-ucb", 0, "rgp", 3
	return map[string]Spec{"rahbo data": data, "gp-ucb rgp, listed": rgp}
}
