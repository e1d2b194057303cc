package risk

// Spec completes the risk factor.
type Spec struct {
	// RandomDraws says whether what a step leaves random takes a new value for each shot
	// (space.DrawnPerShot) or one for all of them (space.DrawnPerStep); empty: as measured. It
	// matters where Risk counts: see SpreadRisk.
	RandomDraws string `toml:"random_draws" enum:"shot,step" doc:"what risk takes for granted of variables that a step leaves random: a new value for each shot, or one for a step, which averaging over shots does not reduce; absent: as measured"`
	// ExploreSteps is the length of the first stage of "rahbo-us", in steps; 0 takes 10.
	ExploreSteps int `toml:"explore_steps" zero:"absent" unit:"steps" bound:">= 1" doc:"length of the first stage of rahbo-us, which explores the noise; absent: 10"`
}
