package constraint

// Spec is a bound on a measured quantity, which is learnt: advice, not safety.
type Spec struct {
	Name string
	// Low and High bound the feasible values, in the quantity's unit; infinite: no bound.
	Low, High float64
	// Probability with which a setting must keep the bounds to be proposed, below 1;
	// 0 takes 0.95. A greater one breaks the constraint less often and searches less
	// widely.
	Probability float64
}
