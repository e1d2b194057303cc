package safety

// Rule names a rule by its number.
type Rule uint8

// The rules. 1 to 31 are numbered as users know them; RuleAssert, RuleOverride and
// RuleInstrument are parts of rules 2, 12 and 18 that react in another way.
const (
	RuleAssert Rule = iota
	RuleFinite
	RuleBounds
	RuleSlew
	RuleDwell
	RuleResolution
	RuleStale
	RuleRange
	RuleSpike
	RuleStuck
	RuleDisagree
	RuleResponse
	RuleReadback
	RuleInterlock
	RulePermissive
	RulePolicy
	RuleWatchdog
	RuleLease
	RuleComms
	RuleBudget
	RuleUnknownDose
	RuleExposure
	RuleExplore
	RuleViolation
	RuleRecord
	RuleClock
	RuleStart
	RuleInstance
	RuleConfig
	RuleBypass
	RuleStop
	RuleShutdown
	RuleOverride
	RuleInstrument
	// RuleCount is one more than the last rule.
	RuleCount
)

// rules is the rule table, by the rules' constants. Nothing else says what a rule's
// reaction is, how it clears, or why its default is what it is.
var rules = [RuleCount]Info{
	RuleAssert: {Number: 2, Name: "final-assert", Home: "step",
		Does:    "looks once more that a setpoint is finite, inside the hard bounds and within slew; else it is not written and the run trips",
		Default: "always", Why: "a setpoint that fails here is a defect of the layer: nothing it says can be trusted before a new process",
		Precedent: "Simplex: the monitor is checked too", Test: "TestFinalAssertTripsAndNeedsANewProcess",
		Reaction: ReactTrip, Clear: ClearRestart},
	RuleFinite: {Number: 1, Name: "not-finite", Home: "step",
		Does:    "refuses NaN and infinities before any comparison; the last setpoint stands, and three proposals in a row hold the run",
		Default: "3 in a row", Why: "not fewer: one bad value of a formula may pass; not more: a policy that says nothing else is broken",
		Precedent: "EPICS ao passes NaN through its limits", Test: "TestArbitraryBits, TestNotFiniteKeepsTheLastSetpoint, TestGarbageForEverHolds",
		Reaction: ReactHold, Clear: ClearAck},
	RuleBounds: {Number: 2, Name: "hard-bounds", Home: "step",
		Does:    "clamps a destination to the hard bounds of the file, which no command changes; what stands outside and is driven is brought to the nearest bound by one setpoint, because none outside is ever written",
		Default: "required", Why: "only who knows the instrument knows its limits",
		Precedent: "EPICS DRVH and DRVL, but never unset", Test: "TestArbitraryBits"},
	RuleSlew: {Number: 3, Name: "slew", Home: "step",
		Does:    "limits the change per second, up and down, from what was last acknowledged; a tick counts as at most two",
		Default: "required", Why: "two ticks: one late tick must not slow the way down, and a pause must not become one large step",
		Precedent: "EPICS OROC counts calls, not seconds", Test: "TestArbitraryBits"},
	RuleDwell: {Number: 4, Name: "dwell", Home: "step",
		Does:    "keeps two changes apart, counted from when the device got the first, to a tick; what the lease needs is written all the same",
		Default: "one tick", Why: "not longer: only the device's maker knows that it needs more; a dead band is the device's resolution",
		Precedent: "Klipper skips small changes and still refreshes", Test: "TestDwellAndLease"},
	RuleResolution: {Number: 5, Name: "resolution", Home: "step",
		Does:    "rounds setpoints on the way to the device's step, towards the safe value, inside the bounds",
		Default: "the variable's resolution", Why: "a destination is not rounded: the policy asks for what the device can do",
		Precedent: "fixed point converters", Test: "TestQuantise"},
	RuleStale: {Number: 6, Name: "stale", Home: "step",
		Does:    "holds while a sensor that the objective does not use is older than its max_age; hold_max later the fallback follows",
		Default: "max_age of the sensor", Why: "age by the monotonic clock; the objective's own sensors are waited for by [objective] timeout instead",
		Precedent: "Klipper QUELL_STALE_TIME", Test: "TestStaleSensorHoldsThenFalls", Reaction: ReactHold},
	RuleRange: {Number: 7, Name: "range", Home: "step",
		Does:    "takes a value outside the sensor's range for no data; three in a row hold",
		Default: "3 in a row", Why: "not fewer: one garbled answer may pass; not more: it is noticed in 0.3 s at ten readings a second",
		Precedent: "Klipper range_check_count", Test: "TestOutOfRangeCounts", Reaction: ReactHold},
	RuleSpike: {Number: 8, Name: "spike", Home: "step",
		Does:    "takes a value for no data that differs from the median of the last five by more than rate allows in that time; three of five hold",
		Default: "off without rate", Why: "five: two wrong values do not move their median; three: then it is not known which are wrong",
		Precedent: "median filters", Test: "TestSpikes", Reaction: ReactHold},
	RuleStuck: {Number: 9, Name: "stuck", Home: "step",
		Does:    "holds when a sensor repeats one value bit for bit although an actuator has moved",
		Default: "off without stuck", Why: "a coarse sensor repeats itself rightly; only its owner knows how often",
		Precedent: "PX4 failure type stuck", Test: "TestStuckSensor", Reaction: ReactHold},
	RuleDisagree: {Number: 10, Name: "disagree", Home: "step",
		Does:    "holds when two sensors differ by more than tolerance for longer than time",
		Default: "off without agree", Why: "most instruments have one sensor of a kind",
		Precedent: "voting", Test: "TestSensorsDisagree", Reaction: ReactHold},
	RuleResponse: {Number: 11, Name: "response", Home: "step",
		Does:    "trips when a change of a setpoint, or a dose, does not move what it should, the right way, in time; the next dose waits for the one before to show",
		Default: "required for doses", Why: "a dry pump, a probe out of the water and a reversed sign look healthy otherwise",
		Precedent: "Klipper verify_heater", Test: "TestResponse, TestDoseMustShow", Reaction: ReactTrip, Clear: ClearReset},
	RuleReadback: {Number: 12, Name: "readback", Home: "step",
		Does:    "sends a setpoint again that the readback does not show within its timeout, three times, then trips; a dose is never sent again",
		Default: "3 repeats", Why: "not fewer: a lost frame is no fault; not more: what three repeats do not bring is broken",
		Precedent: "DeltaV TRIP_TIME, evcc", Test: "TestReadbackIsSentAgainThenTrips", Reaction: ReactTrip, Clear: ClearReset},
	RuleOverride: {Number: 12, Name: "override", Home: "step",
		Does:    "holds when an actuator that had followed is moved from outside, and takes over its new place; one that had followed and was moved while nobody drove it is taken over where it stands; outside the hard bounds nothing is written while it holds, not for a lease either",
		Default: "readback timeout", Why: "a hand at the knob has its reasons: it is not fought",
		Precedent: "DeltaV SP track", Test: "TestOverrideIsAdopted, TestMovedWhileNobodyDroveIt, TestMovedOutsideTheBounds", Reaction: ReactHold, Clear: ClearAck},
	RuleInterlock: {Number: 13, Name: "interlock", Home: "step",
		Does:    "trips unless its sensor is fresh and inside its range; missing counts as wrong",
		Default: "max_age of the sensor", Why: "a cut wire must look like an open door",
		Precedent: "de-energise to trip", Test: "TestInterlock", Reaction: ReactTrip, Clear: ClearReset},
	RulePermissive: {Number: 14, Name: "permissive", Home: "step",
		Does:    "refuses to arm and to start unless its sensor is fresh and inside its range; ignored afterwards",
		Default: "none", Why: "what must always hold is an interlock",
		Precedent: "DeltaV permissives", Test: "TestPermissive"},
	RulePolicy: {Number: 15, Name: "policy", Home: "loop",
		Does:    "isolates the policy: a decision is cut at its deadline; the setpoints stand while one is late, has panicked or given an error, and what has failed is rebuilt from the journal and asked again; three in a row lead to the fallback",
		Default: "[policy] deadline; late every 10 s beyond it; 3 in a row", Why: "not fewer: what failed once may be well from the same record; not more: what fails from the same record three times will always fail",
		Precedent: "Simplex architecture", Test: "TestPanickedPolicyIsMadeAnew, TestThreePanicsFallBack, TestLateDecisions, TestGarbageIsRuleOne", Reaction: ReactFall},
	RuleWatchdog: {Number: 16, Name: "watchdog", Home: "loop",
		Does:    "another goroutine halts every device when the loop has not ticked for too long",
		Default: "20 ticks, at least 2 s", Why: "not shorter: a slow disk may hold a tick up; not longer: the lease is what catches a dead process",
		Precedent: "ArduPilot checks its main loop from an interrupt", Test: "TestWatchdogHaltsWhenTheLoopStands, TestWatchdogRevokesWhatWaits", Reaction: ReactTrip, Clear: ClearRestart},
	RuleLease: {Number: 17, Name: "lease", Home: "step and loop",
		Does:    "writes a setpoint that stands again within a third of the device's own timeout, also while it holds; a device without one whose commands take a duration is told the lease with every setpoint (exec lasts, mqtt lasts, serial lasts)",
		Default: "off without lease; required where setpoints last for a time", Why: "a third: two writes may be lost before the device lets go",
		Precedent: "Klipper MAX_HEAT_TIME; evcc lost chargers by not repeating itself", Test: "TestDwellAndLease, TestSetpointsLastForTheLease"},
	RuleComms: {Number: 18, Name: "comms", Home: "step",
		Does:    "holds when a device that is driven has been silent for comms_timeout; where it doses, falls back at once",
		Default: "30 s", Why: "not shorter: a broker or an adapter reconnects within it; not longer: what is held may be drifting unseen",
		Precedent: "PX4 link loss, Pioreactor stops its pumps", Test: "TestCommsLoss", Reaction: ReactHold},
	RuleInstrument: {Number: 18, Name: "instrument", Home: "loop",
		Does:    "holds when a device fails more often than retries in retry_window, or longer, or when ten steps in a row failed; opens it again and tries again, ever more seldom",
		Default: "3 in 30 s", Why: "not fewer: one garbled answer or a child that died once is mended unseen; not more: what fails four times in half a minute needs a person or time",
		Precedent: "bluesky logs, recovers, moves on", Test: "TestDeviceThatKeepsFailingHoldsAndComesBack", Reaction: ReactHold},
	RuleBudget: {Number: 19, Name: "budget", Home: "step",
		Does:    "charges a dose, durably, before it is given; one for which a budget (once, hour, day, run, reservoir) has no room is not given and holds; one that comes too soon waits",
		Default: "required for doses", Why: "windows end late by at most a slot (5 min of an hour, 1 h of a day), never early",
		Precedent: "pool controllers' daily limits", Test: "TestBudgets, TestDoseBudgets, TestAmountsHoldAcrossCrashes", Reaction: ReactHold, Clear: ClearAck},
	RuleUnknownDose: {Number: 20, Name: "unknown-dose", Home: "step",
		Does:    "gives a dose once, under a number of its own; one whose outcome is unknown counts as delivered, holds, and is never sent again",
		Default: "always", Why: "twice too much cannot be taken back; too little can be added",
		Precedent: "FoundationDB commit_unknown_result", Test: "TestUnknownDoseIsNeverRepeated, TestDoseIsGivenOnce, TestUnknownDoseCountsAndHolds, TestDoseKill", Reaction: ReactHold, Clear: ClearAck},
	RuleExposure: {Number: 21, Name: "exposure", Home: "step",
		Does:    "falls back when a variable has been above a value for longer than a time in a row (exposure), or for more than a fraction of any window of time (duty); time counts in every mode, and at most a twentieth of the window longer than it should; what is left where it is, at the end of a run too, comes down to that value, because nobody counts afterwards",
		Default: "off without exposure and duty", Why: "only its builder knows what the instrument tolerates; a new process starts both again",
		Precedent: "Klipper max_duration", Test: "TestExposure, TestDuty, TestDutyAgainstTheWholeHistory, TestEndLowersWhatIsExposed, TestEndBesideALateConfirmation", Reaction: ReactFall},
	RuleExplore: {Number: 22, Name: "explore", Home: "loop",
		Does:    "brings a decision within a fraction of the range of the nearest setting that broke no constraint; advice inside the bounds, which promises nothing",
		Default: "off without explore", Why: "not on by itself: it needs a start that is safe, and slows the search; 256 settings are remembered",
		Precedent: "SafeOpt, without its guarantees", Test: "TestExploreKeepsNearWhatIsKnown"},
	RuleViolation: {Number: 23, Name: "violation", Home: "loop",
		Does:    "with explore: falls back after three steps in a row that broke a constraint",
		Default: "3 in a row", Why: "not fewer: noise breaks one now and then; not more: what three corrections do not mend is not understood",
		Precedent: "ETSO", Test: "TestThreeViolationsFallBack", Reaction: ReactFall},
	RuleRecord: {Number: 24, Name: "record", Home: "loop",
		Does:    "nothing moves before its intent is durable; holds, however long, while a record cannot be written or the disk has less than min_free, and goes on when it can",
		Default: "min_free 50 MB, looked at every 10 s", Why: "what was done without a record cannot be learnt from, nor told apart from what was not done; not less: the end of a run needs room for its record",
		Precedent: "write-ahead logs", Test: "TestFullDiskHoldsAndGoesOn, TestJournalFailureFallsBack, TestDeletionIsNoticedWithinASecond", Reaction: ReactHold},
	RuleClock: {Number: 25, Name: "clock", Home: "loop",
		Does:    "uses the monotonic clock for every timer; reports when the wall clock jumps",
		Default: "1 s", Why: "not less: NTP slews by milliseconds; not more: a jump explains odd dates in the record",
		Precedent: "boards without a clock of their own", Test: "TestWallClockJumpIsToldAndChangesNothing"},
	RuleStart: {Number: 26, Name: "start", Home: "step and loop",
		Does:    "drives nothing before it has been read, begins disarmed and where the actuator stands, and not at all where that is outside its hard bounds, unless boot = \"safe\" says so; with nothing read, at the safe value. What nobody typed waits for resume (--resume hold), or starts by itself three times in an hour at most (--resume run)",
		Default: "hold for a service; 3 in an hour", Why: "a jump at the start is the commonest harm; not fewer than three: an update restarts twice; not more: what dies three times in an hour needs a person",
		Precedent: "Grbl comes up locked", Test: "TestTakeOverWithoutABump, TestStartOutsideTheHardLimits, TestBootWithoutAReading, TestRestartStorm"},
	RuleInstance: {Number: 27, Name: "instance", Home: "loop/journal, drivers/serial",
		Does:    "one process per journal and control state, one per serial port; what is latched belongs to the instrument: a run of it under another name, or with another journal, is refused too",
		Default: "always", Why: "two masters on one line undo each other's limits",
		Precedent: "flock, TIOCEXCL", Test: "TestControlStateIsLocked, TestScripts"},
	RuleConfig: {Number: 28, Name: "config", Home: "configs",
		Does:    "refuses a file whose limits contradict themselves, with the line and what to do; exit 3",
		Default: "always", Why: "a run that should not have begun is the cheapest fault",
		Precedent: "promtool check", Test: "TestBadSafetySections"},
	RuleBypass: {Number: 29, Name: "bypass", Home: "step",
		Does:    "sets a rule on sensors, links, readback, response, conditions or exposure aside until a time, visibly; never one on values, doses or stopping",
		Default: "at most 4 h", Why: "not longer: a shift ends, and with it who knew why",
		Precedent: "IEC 61511 bypasses", Test: "TestBypassExpires"},
	RuleStop: {Number: 30, Name: "stop", Home: "step and loop",
		Does:    "acts before anything that waits, from every mode; starting needs more than stopping",
		Default: "always", Why: "a stop that queues is none",
		Precedent: "Grbl real-time bytes", Test: "TestStopOvertakesTheQueue, TestStopOvertakesCommands", Reaction: ReactStop, Clear: ClearReset},
	RuleShutdown: {Number: 31, Name: "shutdown", Home: "loop",
		Does:    "brings every actuator to its shutdown state, confirms it before the process ends, and hurries after 10 s; tuner make-safe does it over",
		Default: "10 s under slew", Why: "not shorter: slew is there for the instrument; not longer: systemd kills after 90 s",
		Precedent: "ExecStopPost", Test: "TestShutdownIsHurriedWhenSlow", Reaction: ReactStop, Clear: ClearRestart},
}
