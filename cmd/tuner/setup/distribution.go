package setup

import (
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop/policy"
)

// distributions are what a file says of a variable that is left alone: as the policy expects it, and
// as a simulated plant draws it, where what is to be learnt must be something, and is uniform. The
// policy and the plant have types of their own, for neither knows the other; their mathematics is
// written twice as well, so that a test of one against the other shows something.
func distributions(w configs.WhenRandom) (policy.Distribution, sim.Distribution) {
	mean, sd := OrZero(w.Mean), OrZero(w.SD)
	switch w.Distribution {
	case "normal":
		return policy.Distribution{Kind: policy.TruncatedNormal, Mean: mean, SD: sd}, sim.Distribution{Kind: sim.Normal, Mean: mean, SD: sd}
	case "uniform":
		return policy.Distribution{Kind: policy.Uniform}, sim.Distribution{Kind: sim.Uniform}
	}
	return policy.Distribution{Kind: policy.Learnt}, sim.Distribution{Kind: sim.Uniform}
}
