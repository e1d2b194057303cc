package safety

// Reaction is what a cause asks for; the strongest of all causes counts.
type Reaction uint8

// The reactions, weakest first.
const (
	// ReactNot: the rule changes or withholds a setpoint, or only reports.
	ReactNot Reaction = iota
	// ReactHold: stay where it is.
	ReactHold
	// ReactFall: go to the declared fault state under slew.
	ReactFall
	// ReactTrip: go there at once and stay until reset.
	ReactTrip
	// ReactStop: as a trip, by a person.
	ReactStop
)

// Clearing is how a cause goes away once its reason has.
type Clearing uint8

// The ways to clear a cause.
const (
	// ClearAuto: by itself.
	ClearAuto Clearing = iota
	// ClearAck: a person acknowledges it (resume).
	ClearAck
	// ClearReset: a person resets it.
	ClearReset
	// ClearRestart: a new process, and a reset in it.
	ClearRestart
)

// Info is what is said about one rule. It is data that Step reads and that the
// documentation is made of.
type Info struct {
	// Number as users know it; Name as it is written in the journal.
	Number int
	Name   string
	// Does says what the rule does, Home where it lives: "step" for this package.
	Does, Home string
	// Default, and why it is not smaller or larger.
	Default, Why string
	// Precedent is who taught it, Test what shows it.
	Precedent, Test string
	Reaction        Reaction
	Clear           Clearing
}

// bypassable reports whether a bypass may name the rule: those that look at sensors,
// links and actuators. Rules on values, doses, the record and stopping always hold.
func (r Rule) bypassable() bool {
	switch r {
	case RuleStale, RuleRange, RuleSpike, RuleStuck, RuleDisagree, RuleResponse, RuleReadback, RuleOverride,
		RuleInterlock, RulePermissive, RuleComms, RuleExposure:
		return true
	}
	return false
}

// About returns what is said about r; the zero Info for a number that is none.
func About(r Rule) Info {
	if r >= RuleCount {
		return Info{}
	}
	return rules[r]
}

// Names of the reactions and of the ways to clear, for people.
var (
	reactionNames = [...]string{"shape or refuse", "hold", "fall back", "trip", "stop"}
	clearingNames = [...]string{"by itself", "acknowledge", "reset", "restart and reset"}
)

// String says what the reaction is.
func (r Reaction) String() string { return reactionNames[min(int(r), len(reactionNames)-1)] }

// String says how a cause is cleared.
func (c Clearing) String() string { return clearingNames[min(int(c), len(clearingNames)-1)] }

// String is the rule's name.
func (r Rule) String() string { return About(r).Name }
