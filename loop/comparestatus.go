package loop

// ComparisonStatus is how the recommended setting's re-measuring against the starting one
// stands: while Running, and what came of it. Its steps are no part of the search.
type ComparisonStatus struct {
	// Running says that Setting ("recommended" or "start") is being measured for the pair
	// Pair of Pairs.
	Running bool   `json:"running"`
	Pair    int    `json:"pair"`
	Pairs   int    `json:"pairs"`
	Setting string `json:"setting"`
	// Verdict (see Verification) and Words tell the result, "" before it.
	Verdict string `json:"verdict"`
	Words   string `json:"words"`
	// Why says why nothing was compared, "" where it is or was.
	Why string `json:"why"`
}

// comparisonStatus is nil until the search has ended.
func (l *Loop) comparisonStatus() *ComparisonStatus {
	v, found := &l.verifying, l.result.Verification
	switch {
	case v.running:
		c := l.step.decision.Compared
		return &ComparisonStatus{Running: true, Pair: c.Pair, Pairs: v.plan.Pairs, Setting: string(c.Side)}
	case found != nil:
		return &ComparisonStatus{Pair: v.plan.Pairs, Pairs: v.plan.Pairs, Verdict: found.Verdict, Words: found.Words(l.opt.Objective.Unit)}
	case l.result.Unverified != "":
		return &ComparisonStatus{Why: l.result.Unverified}
	}
	return nil
}
