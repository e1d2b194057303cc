package journal

// The kinds of a run's events, where a reader goes by them. Names on disk stay.
const (
	// EventStart keeps the starting setting, a JSON list with one entry for each variable,
	// null where it is random: with it a policy can be brought to where the run's was.
	EventStart = "start-setting"
	// EventAbandoned: a step ended before its end, and its outcome was not taught to the
	// policy.
	EventAbandoned = "abandoned"
	// EventWaited: how long a run had waited for its resume before its first step, which is
	// no time of the run.
	EventWaited = "waited"
	// EventConfiguration and EventNarrowed: the configuration was changed during the run, in
	// words, and as what a replay goes by.
	EventConfiguration = "configuration"
	EventNarrowed      = "narrowed"
	// EventVerify: the comparison with the starting setting at the end.
	EventVerify = "verify"
	// EventConstraint: a step broke a constraint, one event for each such step.
	EventConstraint = "constraint"
	// EventSafety: what the safety layer does.
	EventSafety = "safety"
	// EventPolicy: a decision failed.
	EventPolicy = "policy"
	// EventCommand: a command of a person or a program.
	EventCommand = "command"
	// EventDisk: the disk, or the record on it.
	EventDisk = "disk"
	// EventShutdown: at level info, all actuators are at rest; else, which are not.
	EventShutdown = "shutdown"
)

// Problems of steps that were ended and did not fail.
const (
	// ProblemInterrupted: the caller ended the run.
	ProblemInterrupted = "interrupted"
	// ProblemUnknown: the process ended in the middle of the step; how far the step came is
	// not known.
	ProblemUnknown = "unknown: the process ended in the middle of the step"
	// ProblemTimeOver: a shadow run's time was over.
	ProblemTimeOver = "the run's time was over"
)
