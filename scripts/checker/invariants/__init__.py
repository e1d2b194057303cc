"""The invariants, by name. Each is a function of a Record that returns a Verdict; its first sentence says what must hold."""

from . import program, record_keeping, safety, setpoints

ALL = {f.__name__: f for f in (
    setpoints.bounds, setpoints.resolution, setpoints.slew, setpoints.dwell, setpoints.lease, setpoints.age, setpoints.stalled,
    safety.safe_in_time, safety.stays_safe, safety.at_rest, safety.holds, safety.must_trip, safety.falls_back,
    safety.exposure, safety.make_safe,
    record_keeping.intent_first, record_keeping.intent_survives, record_keeping.acknowledged, record_keeping.told_late, record_keeping.numbers,
    record_keeping.measured, record_keeping.taken, record_keeping.achieved, record_keeping.costs, record_keeping.doses, record_keeping.dose_unknown, record_keeping.dose_in_flight,
    program.exit_codes, program.commands, program.own_name, program.goes_on, program.missing_journal, program.line_manners,
    program.first_read, program.waits, program.alone, program.state_true)}
