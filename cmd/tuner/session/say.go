package session

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// watch is what the session does while the loop runs: nothing that waits, outside
// a simulation.
func (s *session) watch() control.Watch {
	return control.Watch{
		Step: func(d journal.Decision, o journal.Outcome) {
			s.tally.Add(d, o)
			s.tell.Step(outcome.StepLine(s.Setup, d, o, s.latest), s.Setup.Options.Mode == plan.Simulate)
			if d.Compared.Comparison == 0 && s.tell.Details() {
				s.tell.Detail("tuner: step %d: %s", d.Step, control.Because(&d))
			}
			if s.box == nil {
				return
			}
			line, err := show.EncodeLine(control.StepOf(s.run, d, o))
			if err != nil {
				s.tell.Say("tuner: warning: step %d cannot be printed: %v", d.Step, err)
				return
			}
			s.box.Put(line)
		},
		Progress: func(p control.Progress) {
			s.Env.JSON.At(s.run.ID, p.Step)
			s.latest = p.Status
			line := func() show.Progress {
				return outcome.Progress(s.Setup, p.Status, s.pace(time.Duration(float64(p.Elapsed)*float64(time.Second))))
			}
			s.tell.Show(line())
			s.heralds.look(p.Status)
			s.service.tick(p, func() string { return line().String() })
		},
		Phases: s.tell.Live(),
		Event:  s.sayEvent,
	}
}

// lastWords is what the service manager shows of a run that has ended.
func (s *session) lastWords(f outcome.Finale) string {
	words := []string{"ended: " + f.Result.Reason}
	if f.Err != nil && fault.ExitCode(f.Err) != fault.ExitInterrupted {
		words[0] = f.Err.Error()
	}
	return strings.Join(append(words, outcome.RestLines(s.Setup, &f.Result)...), "; ")
}

// pace is how much of this machine's time has passed per unit of the loop's: a
// simulation is faster than what it simulates.
func (s *session) pace(elapsed time.Duration) float64 {
	if s.Setup.Options.Mode != plan.Simulate || elapsed <= 0 {
		return 1
	}
	return float64(s.Env.Now().Sub(s.began)) / float64(elapsed)
}

// sayEvent prints what a person should read at once. Faults are printed at the end,
// with what became of the actuators.
func (s *session) sayEvent(e journal.Event) {
	switch {
	case e.Kind == "recommend": // the report says that there is none
	case e.Kind == journal.EventSafety && e.Level == "error": // at once: bringing actuators to rest may take its time
		s.tell.Say("tuner: error: %s", e.Message)
	case e.Kind == journal.EventSafety && e.Level == "info", e.Kind == journal.EventCommand && e.Level == "info":
		s.tell.Say("tuner: %s", e.Message)
	case (e.Kind == "device" || e.Kind == journal.EventDisk) && e.Level == "info":
		s.tell.Say("tuner: %s", e.Message)
	case e.Level == "warn", e.Kind == journal.EventDisk:
		s.tell.Say("tuner: warning: %s", e.Message)
	case e.Kind == "interrupt":
		s.tell.Say("tuner: %s", e.Message)
	case (e.Kind == "home" || e.Kind == journal.EventVerify) && s.Setup.Options.Mode == plan.Live:
		s.tell.Say("tuner: %s", e.Message)
	}
}

// sayStart tells what begins, and what the file asks for and does not get.
func (s *session) sayStart() {
	w := s.Setup
	for _, r := range s.Remarks {
		s.tell.Say("tuner: %s", r)
	}
	s.tell.Say("tuner: %s of %s begins: %s; journal %s", show.ModeWords(string(w.Options.Mode)), w.Config.Name, describe.Endings(w), s.Path)
	if text := describe.Verification(w); text != "" && w.Options.Mode == plan.Live {
		s.tell.Say("tuner: it %s", text)
	}
	if w.Options.Mode != plan.Simulate {
		for _, d := range w.Doubts {
			s.tell.Say("tuner: warning: %s:%d: %s: %s", w.Config.File, d.Line, d.Key, describe.Doubt(d))
		}
	}
}

// print writes the result to stdout, and after a failure or an interrupt what
// became of the actuators to stderr as well, where a person looks first.
func (s *session) print(f outcome.Finale, line []byte) error {
	reportSeen := !s.JSON && s.Env.IsTerminal(s.Env.Stdout) && s.Env.IsTerminal(s.Env.Stderr)
	if s.Setup.Options.Mode != plan.Simulate && f.Err != nil && !reportSeen {
		for _, text := range outcome.RestLines(s.Setup, &f.Result) {
			fmt.Fprintf(s.Env.Stderr, "tuner: %s\n", text)
		}
	}
	if s.JSON {
		s.box.Put(line)
		if err := s.box.Close(); err != nil {
			return fmt.Errorf("write to stdout: %w", err)
		}
		return nil
	}
	return s.Env.Print(func(w io.Writer) error { return outcome.WriteReport(s.Setup, w, f, s.Path) })
}
