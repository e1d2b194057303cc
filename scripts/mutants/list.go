package main

// mutants are those that no rule makes: in other rooms than the command knows, and where more
// than one place has to change.
var mutants = []mutant{
	{2, "hard-bounds", "safety/values.go", "c := clamp(dest, l.Low, l.High)", "c, _ := dest, l", "./safety", "TestArbitraryBits"},
	{3, "slew", "safety/values.go", "return clamp(dest, from-l.SlewDown*dt.Seconds(), from+l.SlewUp*dt.Seconds())", "return dest", "./safety", "TestArbitraryBits"},
	{15, "policy", "loop/advisor/advisor.go", `err = fmt.Errorf("%w: %v", errPanicked, r)`, "_ = r", "./loop", "TestPanickingPolicyIsIsolated"},
	{15, "policy", "loop/advisor/failures.go", "f.count, f.last, f.broken = f.count+1, err, true", "f.count, f.last = f.count+1, err", "./loop", "TestPanickedPolicyIsMadeAnew"},
	{19, "dose-bounds", "safety/values.go", "c := clamp(amount, 0, l.High)", "c := amount", "./safety", "TestDosesAreCut"},
	{20, "dose-hold", "safety/step.go", "x.reportDose(i)", "x.dose(i)", "./safety", "TestNoDoseOutsideRun"},
	{20, "dose-sure", "loop/instrument/dose.go", "case errors.Is(err, drivers.ErrNotSent), errors.Is(err, drivers.ErrRefused):", "case !errors.Is(err, drivers.ErrClosed), errors.Is(err, drivers.ErrNotSent):", "./loop", "TestUnknownDoseHoldsTheRun"},
	{24, "record", "loop/recorded.go", `l.fail(fmt.Errorf("%w: %s: %w", ErrJournal, e.What, e.Err))`, "_ = fmt.Sprint(e.What)\n\t\t\tl.follow(e.Done)", "./loop", "TestJournalFailureFallsBack"},
	{24, "moved", "loop/journal/record.go", "if err := j.stillThere(); err != nil {", "if err := error(nil); err != nil {", "./loop/journal", "TestRecordOfADeletedJournalIsNotDurable"},
	{24, "moved-noticed", "loop/record/recorder.go", "\tr.look(now)\n", "", "./loop", "TestDeletionIsNoticedWithinASecond"},
	{24, "moved-held", "loop/record/recorder.go", `case r.files.held != "":`, "case false:", "./cmd/tuner/trial/kills", "TestJournalReplacedUnderTheRun"},
	{24, "moved-number", "loop/journal/rescue.go", "case l == nameTaken && !j.wal && j.adopt():", "case false:", "./loop/journal", "TestNewInodeNumberOnANetwork"},
	{24, "foreign-log", "loop/journal/rescue.go", "if err := j.foreignLog(); err != nil {", "if err := j.foreignLog(); false {", "./loop/journal", "TestForeignLogIsLeftAlone"},
	{24, "control-moved", "loop/journal/controlstate/file.go", "if id != want {", "if id != want && false {", "./loop/journal/controlstate", "TestLostControlStateIsWrittenAnew"},
	{24, "no-journal", "cmd/tuner/runfiles/journalfile.go", "return p, refuseLostJournal(path)", "return p, nil", "./cmd/tuner/trial/kills", "TestStartWithoutItsJournal"},
	{27, "instrument", "cmd/tuner/runfiles/siblings.go", "case held != nil:", "case false:", "./cmd/tuner/trial/scripts", "TestScripts/escape"},
	{27, "instance", "loop/journal/disk/lock.go", "syscall.LOCK_EX|syscall.LOCK_NB", "syscall.LOCK_SH|syscall.LOCK_NB", "./loop/journal/controlstate", "TestControlStateIsLocked"},
	{28, "config", "configs/validate.go", "safetyChecker{k}.safety()", "", "./configs", "TestBadSafetySections"},
	{28, "contradiction", "configs/validate_safety.go", "k.neverTogether()\n", "", "./configs", "TestBadSafetySections"},
	{30, "stop", "loop/loop.go", "l.stopIfAsked()\n\t\t\t\tl.handleUnder(ctx, r)", "l.handleUnder(ctx, r)", "./loop", "TestStopOvertakesTheQueue"},
	{13, "safe-disk", "loop/plan/limits.go", "l.Tick, l.Links = o.Tick,", "l.DurableWait, l.Tick, l.Links = 1e9, o.Tick,", "./loop", "TestTripDoesNotWaitForTheDisk"},
	{13, "mqtt-hurry", "drivers/mqtt/link/link.go", "case <-l.urgent:\n\t\treturn Sleep(", "case <-make(chan struct{}):\n\t\treturn Sleep(", "./drivers/mqtt", "TestSafeHasAConnectionMade"},
	{13, "mqtt-guess", "drivers/mqtt/device.go", "Name:    d.options.ClientName,", "Name:    func() (string, error) { return \"tuner-\" + session, nil },", "./drivers/mqtt", "TestClientIDIsNobodysToGuess"},
	{13, "line-greeting", "drivers/serial/connect.go", "ctx, done := protocol.Yielding(ctx)", "done := func() {}", "./drivers/serial", "TestGreetingGivesWay"},
}
