package policy

// acquisitionCasts are the acquisitions' specifications for the tests of determinism.
func acquisitionCasts() map[string]Spec {
	ei := subsetsSpec("ei-psq-per-cost", 28)
	ei.Model = Model{Kernel: "matern52", Hyperparameters: "fit", Capacity: 10}
	moved := fixedSpec("ei-per-cost", 2, 29)
	moved.MoveCost, moved.Model = []float64{1, 2}, Model{Kernel: "se", Hyperparameters: "fit"}
	return map[string]Spec{"ei-psq-per-cost": ei, "ei moved": moved}
}
