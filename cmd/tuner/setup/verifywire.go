package setup

import (
	"math"
	"slices"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/plan"
)

// wireVerify says how the recommendation is compared with the start.
func (m *policyMaker) wireVerify() {
	stop, v := &m.cfg.Stop, &m.opt.Verify
	*v = plan.Verify{Pairs: verifyPairs, Risk: m.spec.Risk, Seed: m.spec.Seed,
		Cost: verifyShare * OrZero(stop.Cost), Time: OrZero(stop.Time) / 10}
	if stop.VerifyCost != nil {
		v.Cost = *stop.VerifyCost
	}
	if stop.VerifyTime != nil {
		v.Time = *stop.VerifyTime
	}
	if slices.ContainsFunc(m.cfg.Variables, func(v configs.Variable) bool { return v.Kind == "dose" }) {
		v.Pairs, v.Why = 0, "a dose cannot be taken back, so measuring again would add more; stop.verify asks for it all the same"
	}
	if stop.Verify != nil {
		if v.Pairs = *stop.Verify; v.Pairs == 0 {
			v.Why = "stop.verify is 0"
		}
	}
	if m.spec.Fidelity != nil {
		v.Same = make([]bool, len(m.spec.Fidelity))
		for i, x := range m.spec.Fidelity {
			v.Same[i] = !math.IsNaN(x)
		}
	}
}

// verifyPairs is how many pairs compare the recommended with the starting setting where
// the file does not say. Not fewer: of 2^8 choices of signs, one in twenty are 13, so a
// gain of twice the noise is found almost surely. Not more: each pair is two steps that
// nothing new is sought in.
const verifyPairs = 8

// verifyShare is the part of the search's budget and time that the comparison may take
// beside them where the file does not say: nobody is to pay much more than what was
// agreed to.
const verifyShare = 0.1
