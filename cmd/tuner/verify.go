package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/plan"
)

// verifyPairs is how many pairs compare the recommended with the starting setting where
// the file does not say. Not fewer: of 2^8 choices of signs, one in twenty are 13, so a
// gain of twice the noise is found almost surely. Not more: each pair is two steps that
// nothing new is sought in.
const verifyPairs = 8

// verifyShare is the part of the search's budget and time that the comparison may take
// beside them where the file does not say: nobody is to pay much more than what was
// agreed to.
const verifyShare = 0.1

// wireVerify says how the recommendation is compared with the start.
func (w *wiring) wireVerify() {
	stop, v := &w.cfg.Stop, &w.opt.Verify
	*v = plan.Verify{Pairs: verifyPairs, Risk: w.spec.Risk, Seed: w.spec.Seed,
		Cost: verifyShare * orZero(stop.Cost), Time: orZero(stop.Time) / 10}
	if stop.VerifyCost != nil {
		v.Cost = *stop.VerifyCost
	}
	if stop.VerifyTime != nil {
		v.Time = *stop.VerifyTime
	}
	if slices.ContainsFunc(w.cfg.Variables, func(v configs.Variable) bool { return v.Kind == "dose" }) {
		v.Pairs, v.Why = 0, "a dose cannot be taken back, so measuring again would add more; stop.verify asks for it all the same"
	}
	if stop.Verify != nil {
		if v.Pairs = *stop.Verify; v.Pairs == 0 {
			v.Why = "stop.verify is 0"
		}
	}
	if w.spec.Fidelity != nil {
		v.Same = make([]bool, len(w.spec.Fidelity))
		for i, x := range w.spec.Fidelity {
			v.Same[i] = !math.IsNaN(x)
		}
	}
}

// reportVerification tells how sure the improvement is.
func (w *wiring) reportVerification(b io.Writer, r *loop.Result) {
	v := r.Verification
	switch {
	case w.opt.Mode == plan.Shadow:
		return
	case v == nil && r.Unverified != "":
		fmt.Fprintf(b, "not measured against the starting setting: %s\n", r.Unverified)
		return
	case v == nil:
		return
	}
	o := &w.opt.Objective
	fmt.Fprintf(b, "verified: %s\n", v.Words(o.Unit))
	if v.Pairs == 0 {
		return
	}
	fmt.Fprintf(b, "  measured in turn: %s recommended, %s at the start\n",
		quantity(float64(v.Recommended.Mean), o.Unit), quantity(float64(v.Start.Mean), o.Unit))
	if v.SD != nil {
		fmt.Fprintf(b, "  %s\n", steadiness(v, o.Unit))
	}
	cost := ""
	if v.Spent > 0 {
		cost = " and " + quantity(float64(v.Spent), w.opt.Cost.Unit)
	}
	fmt.Fprintf(b, "  it took %s%s beside the search", count(v.Steps, "step"), cost)
	if v.Dropped > 0 {
		fmt.Fprintf(b, "; %s gave no data on one side", count(v.Dropped, "pair"))
	}
	fmt.Fprintln(b)
}

// steadiness tells how the scatter of a shot changed.
func steadiness(v *plan.Verification, unit string) string {
	text := fmt.Sprintf("one shot scatters by %s (sd) there, and by %s at the start: ",
		quantity(float64(v.Recommended.SD), unit), quantity(float64(v.Start.SD), unit))
	p := func(which string, p float64) string {
		return fmt.Sprintf("%s, p = %.2g, two-sided %.2g", which, p, float64(v.SD.PTwoSided))
	}
	switch {
	case float64(v.SD.P) <= plan.VerifyLevel:
		return text + p("steadier", float64(v.SD.P))
	case float64(v.SD.PLess) <= plan.VerifyLevel:
		return text + p("less steady", float64(v.SD.PLess))
	}
	return text + p("no change shown", float64(min(v.SD.P, v.SD.PLess)))
}

// verifyWords says what follows the search, "" if nothing does.
func (w *wiring) verifyWords() string {
	v := &w.opt.Verify
	if v.Pairs == 0 {
		return ""
	}
	if why := w.opt.Unverifiable(); why != "" {
		return "then does not measure the recommended setting against the starting one: " + why
	}
	var bounds []string
	if v.Cost > 0 {
		bounds = append(bounds, "at most "+quantity(v.Cost, w.opt.Cost.Unit))
	}
	if v.Time > 0 {
		bounds = append(bounds, "at most "+duration(v.Time))
	}
	text := fmt.Sprintf("then measures the recommended and the starting setting %d times each", v.Pairs)
	if len(bounds) > 0 {
		text += ", " + strings.Join(bounds, " and ") + " beside that"
	}
	return text
}
