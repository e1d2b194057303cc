package acquisition

// SearchSpec says where decisions look, what is tried again, and what may be recommended that was not tried.
type SearchSpec struct {
	// Region is where decisions look: in the "whole" domain (also where it is empty) or, three of four, in a "trust" region
	// (package trust). It counts where the task is undivided (one control set of all variables, neither drift,
	// constraints nor a fidelity) and settings are not listed.
	// By default: kinds are as their papers describe them, and where no variable is without effect nothing is gained.
	Region string `toml:"region" default:"whole" enum:"whole,trust" doc:"where a decision looks for a setting: whole: in the whole ranges; trust: three of four decisions in a box around the best one that grows with success and shrinks without, for many variables"`

	// Steps is after how many steps the run is to end, 0 where that is not known. With it Stalled has another
	// default, and the last steps are for the recommendation (Rivals).
	Steps int
	// Once says that a candidate which was tried is not proposed again while others are
	// left: for tables of recorded results, where a second measurement brings nothing.
	Once bool
	// Stalled says what follows steps in a row that repeat what is known near the best (Patience): "explore", a
	// setting far from all that were measured, and settings around a reading that was better than expected; "repeat", what
	// the acquisition says, as papers have it. Empty: "explore" in a run that is to end (Steps) where a step costs
	// the same everywhere and settings are not listed, else "repeat". It counts where the task is undivided and one belief decides,
	// and not in the last ten of Steps, or the last quarter of fewer than forty.
	// By default: a run that ends is worth what it found, and a model that fits one hill sees no other.
	Stalled string `toml:"stalled" enum:"repeat,explore" doc:"what follows three steps or more in a row that repeat what is known near the best: repeat: what the acquisition says; explore: a setting far from all that were measured, and others around it where it was better than expected: hills that the model does not know; absent: explore until ten of [stop] steps are left, or a quarter of fewer than forty, where one control set holds all variables, settings are not listed, a step costs the same everywhere, and there is neither a constraint, drift nor a dose; else repeat. Absent or explore: where [stop] steps ends a run without risk that has at most 1024 settings, listed or not, or variables of at most 64 values each, and the rest holds, a setting whose readings are enough is left for the best one that was not measured"`
	// Recommended says among which settings the recommendation is: "measured", or "model", those between them too. Empty:
	// "model" in a run that is to end (Steps) where a step costs the same everywhere, else "measured". It counts where the
	// task is undivided and settings are not listed, and while the objective is learnt through no logarithm.
	// By default: readings around a setting tell more of it than each of itself, and before the end it is measured.
	Recommended string `toml:"recommended" enum:"measured,model" doc:"among which settings the recommendation is: measured: those that were measured; model: all that lie between them too, by the model, but not while that learns through a logarithm; absent: model where stalled's default would explore, else measured"`
}
