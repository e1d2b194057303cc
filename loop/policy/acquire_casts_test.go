package policy

import (
	"github.com/labtuner/tuner/loop/policy/model"
)

// acquisitionCasts are the acquisitions' specifications for the tests of determinism.
func acquisitionCasts() map[string]Spec {
	ei := subsetsSpec("ei-psq-per-cost", 28)
	ei.Model = model.Spec{Kernel: "matern52", Hyperparameters: "fit", Capacity: 10}
	moved := fixedSpec("ei-per-cost", 2, 29)
	moved.MoveCost, moved.Model = []float64{1, 2}, model.Spec{Kernel: "se", Hyperparameters: "fit"}
	pims := fixedSpec("pims", 2, 30)
	pims.Model = model.Spec{Kernel: "se", Hyperparameters: "fit", Capacity: 12}
	mes := subsetsSpec("ucb-psq-per-cost", 31)
	mes.Acquisition, mes.InitialSteps = "mes", 8
	jes := withCandidates(fixedSpec("jes", 2, 32), 25)
	ids := pricedSpec("costids")
	ids.Rho, ids.Confidence, ids.Seed, ids.InitialSteps, ids.Model = 2, "heuristic", 33, 4, model.Spec{Kernel: "se", Hyperparameters: "fit", Capacity: 15}
	idsSets := idsSpec(34, 1.5)
	idsSets.Model = model.Spec{Kernel: "matern52", Hyperparameters: "priors", PriorRule: "elimination"}
	risky := riskySets(acquireUCB, 35)
	risky.Model, risky.InitialSteps = model.Spec{Kernel: "se", Hyperparameters: "fit", Capacity: 20}, 4
	fidelity := fidelitySpec(36)
	fidelity.WorkUnits = 40
	return map[string]Spec{"fidelities of sets": fidelity, "risky sets": risky, "costids": ids, "ids of sets": idsSets, "ei-psq-per-cost": ei, "ei moved": moved, "pims": pims, "mes of sets per cost": mes, "jes listed": jes}
}
