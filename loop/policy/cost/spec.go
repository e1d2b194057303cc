package cost

// Spec is what steps cost beside what their control sets are said to.
type Spec struct {
	// SettingCost is what a step costs in addition to its control set's cost and its movement,
	// as a function of the setting of all variables (NaN for those left random); nil:
	// nothing. It must be safe for concurrent use.
	SettingCost func(controlSet int, x []float64) float64
	// CostsRead says that what a step with a control set costs by itself is read after it
	// (Observation.SetCost) and learnt; ControlSet.Cost counts until the first reading.
	CostsRead bool
	// MoveCost is the cost per unit moved, one value per variable; nil: nothing.
	MoveCost []float64
}
