package setup

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/journal/export"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// NewPolicy makes the policy and tells it what was observed in earlier runs. Each of
// those observations stands in for a step of the initial design, which is there to learn
// as much.
func (w *Setup) NewPolicy(earlier []journal.WarmSource) (policy.Policy, error) {
	spec, sign := w.Spec, 1.0
	if w.Options.Objective.Minimize {
		sign = -1
	}
	if w.Options.Mode == plan.Shadow { // no step is made with a control set, so that none's cost is read
		spec.CostsRead = false
	}
	var told []policy.Observation
	for _, s := range earlier {
		for _, o := range s.Taken {
			told = append(told, policy.Observation{X: o.X, Mean: sign * o.Mean, Variance: o.Variance, Shots: o.Shots})
		}
	}
	spec.InitialSteps = max(0, spec.InitialSteps-len(told))
	p, err := policy.New(spec)
	if err != nil || len(told) == 0 {
		return p, err
	}
	warmer, ok := p.(policy.Warmer)
	if !ok {
		return nil, fmt.Errorf("policy %q cannot use earlier runs", w.Config.Policy.Kind)
	}
	if err := warmer.Warm(told); err != nil {
		return nil, fault.WithHint(fmt.Errorf("warm start: %w", err), "leave model.warm_start out")
	}
	return p, nil
}

// WarmFiles are the files of earlier runs: those of the configuration, which begin at its
// folder, and those of the command line.
func (w *Setup) WarmFiles(named []string) []string {
	var files []string
	for _, f := range w.Config.Model.WarmStart {
		files = append(files, w.Config.Path(f))
	}
	return append(files, named...)
}

// warmReader reads what earlier runs have to say of the variables and the objective of these
// options.
type warmReader struct{ opt *plan.Options }

// ReadWarm reads observations of earlier runs. All problems of all files come at once.
func (w *Setup) ReadWarm(files []string) ([]journal.WarmSource, error) {
	var all []journal.WarmSource
	var problems []configs.Problem
	reader := warmReader{&w.Options}
	for _, file := range files {
		read := reader.readWarmJournal
		if strings.EqualFold(filepath.Ext(file), ".csv") {
			read = reader.readWarmCSV
		}
		s, err := read(file)
		if broken := (*configs.Error)(nil); errors.As(err, &broken) {
			problems = append(problems, broken.Problems...)
		} else if err != nil {
			return nil, err
		}
		s.File = file
		for _, before := range all {
			if err == nil && (before.SHA256 == s.SHA256 || s.UID != "" && before.UID == s.UID) {
				problems = append(problems, configs.Problem{File: file, What: fmt.Sprintf("has the same observations as %s, which would count twice", before.File), Hint: "name it once"})
			}
		}
		all = append(all, s)
	}
	if err := configs.NewError(problems...); err != nil {
		return nil, err
	}
	return all, nil
}

// readWarmJournal reads the valid steps of a journal that are not struck; of steps that left a variable
// random each shot is an observation.
func (x warmReader) readWarmJournal(file string) (s journal.WarmSource, err error) {
	r, err := journal.OpenReader(file)
	if errors.Is(err, fs.ErrNotExist) {
		return s, configs.NewError(configs.Problem{File: file, What: "cannot be read: no such file", Hint: "name it from the configuration's folder on"})
	}
	if err != nil {
		if runfiles.RefuseForeign(file) != nil {
			return s, configs.NewError(configs.Problem{File: file, What: "is neither a journal nor a table", Hint: "name a journal (NAME.db), or a table whose name ends in .csv"})
		}
		return s, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	run := r.Run()
	place, problems := x.warmColumns(file, run)
	if len(problems) > 0 {
		return s, configs.NewError(problems...)
	}
	if run.Mode == string(plan.Simulate) && (x.opt.Mode == plan.Live || x.opt.Mode == plan.Shadow) {
		return s, configs.NewError(configs.Problem{File: file, What: "is the journal of a simulation: what a simulated plant gave says nothing of the instrument",
			Hint: "name journals of runs; if it is meant, export it as CSV and name that file instead"})
	}
	s.UID, s.Growing = run.ID, errors.Is(journal.Unlocked(file), disk.ErrLocked)
	if s.SHA256, err = export.Hash(r); err != nil { // which checks every row, too
		return s, err
	}
	struck, err := r.Struck()
	if err != nil {
		return s, err
	}
	abandoned := map[int]bool{}
	for e, err := range r.Events() {
		if err != nil {
			return s, err
		}
		abandoned[e.Step] = abandoned[e.Step] || e.Kind == journal.EventAbandoned
	}
	for step, err := range r.Steps() {
		if err != nil {
			return s, err
		}
		if _, out := struck[step.Decision.Step]; out || !step.Concluded || !step.Outcome.Valid || abandoned[step.Decision.Step] {
			continue
		}
		random := run.Mode == string(plan.Shadow)
		for _, i := range place {
			random = random || math.IsNaN(step.Decision.Applied[i])
		}
		o := step.Outcome
		if !random {
			x.takeWarm(&s, journal.WarmObservation{X: pick(o.X, place), Mean: o.Mean, Variance: o.Variance, Shots: o.Shots})
			continue
		}
		shots, err := r.Shots(step.Decision.Step)
		if err != nil {
			return s, err
		}
		for _, shot := range shots {
			x.takeWarm(&s, journal.WarmObservation{X: pick(shot.X, place), Mean: shot.Objective, Variance: math.NaN(), Shots: 1})
		}
	}
	return s, configs.NewError(nothingTaken(file, s, 0)...)
}

// nothingTaken refuses a file that has nothing to tell: whoever named it thinks otherwise.
func nothingTaken(file string, s journal.WarmSource, empty int) []configs.Problem {
	switch {
	case len(s.Taken) > 0:
		return nil
	case s.Dropped > 0:
		return []configs.Problem{{File: file, What: fmt.Sprintf("has no observation in the ranges: %d lie outside those of the variables or the objective's sensor", s.Dropped),
			Hint: "compare its units and values with the ranges of the configuration"}}
	case empty > 0:
		return []configs.Problem{{File: file, What: fmt.Sprintf("has no observation: %s of it without a value, or said to be not valid", show.Count(empty, "row"))}}
	}
	return []configs.Problem{{File: file, What: "has no observation", Hint: "name files that have some"}}
}

// warmColumns finds each variable in a journal's run, which must be about the same
// quantities.
func (x warmReader) warmColumns(file string, run journal.Run) (place []int, problems []configs.Problem) {
	bad := func(key, what, hint string) {
		problems = append(problems, configs.Problem{File: file, Key: key, What: what, Hint: hint})
	}
	const asCSV = "export it as CSV, convert what has to be, and name the CSV file instead"
	for _, v := range x.opt.Variables {
		at := -1
		for i, c := range run.Variables {
			switch {
			case c.Name != v.Name:
			case c.Unit != v.Unit:
				at = i
				bad(v.Name, fmt.Sprintf("is in %q there, and in %q here", c.Unit, v.Unit), asCSV)
			default:
				at = i
			}
		}
		if at < 0 {
			bad(v.Name, "is no variable of that run, so its observations say nothing of it", "name journals of runs with the same variables")
		}
		place = append(place, at)
	}
	for _, c := range run.Variables {
		known := false
		for _, v := range x.opt.Variables {
			known = known || v.Name == c.Name
		}
		if !known {
			bad(c.Name, "is a variable of that run and none of this, so where it stood is lost", "export the steps that fit as CSV, and name that file instead")
		}
	}
	if o := &x.opt.Objective; run.Objective.Name != o.Name {
		bad("objective", fmt.Sprintf("is %q there, and %q here", run.Objective.Name, o.Name), asCSV)
	} else if run.Objective.Unit != o.Unit {
		bad("objective", fmt.Sprintf("is in %q there, and in %q here", run.Objective.Unit, o.Unit), asCSV)
	}
	return place, problems
}

// takeWarm keeps an observation that lies in the ranges, or so near that a readback may
// just say otherwise, and whose value the objective's sensor would be believed.
func (x warmReader) takeWarm(s *journal.WarmSource, o journal.WarmObservation) {
	for i, v := range x.opt.Variables {
		if !(o.X[i] >= v.Low-v.Tolerance && o.X[i] <= v.High+v.Tolerance) {
			s.Dropped++
			return
		}
	}
	if at := x.opt.Objective.Sensor; at >= 0 {
		if sensor := &x.opt.Sensors[at]; !(o.Mean >= sensor.Low && o.Mean <= sensor.High) {
			s.Dropped++
			return
		}
	}
	s.Taken = append(s.Taken, o)
}

func pick(x []float64, place []int) []float64 {
	out := make([]float64, len(place))
	for i, k := range place {
		out[i] = x[k]
	}
	return out
}

// WarmWords tells what was taken of a file.
func WarmWords(s journal.WarmSource) string {
	text := fmt.Sprintf("warm start from %s: %s", s.File, show.Count(len(s.Taken), "observation"))
	if s.Dropped > 0 {
		text += fmt.Sprintf(", %d outside the ranges left out", s.Dropped)
	}
	if s.Growing {
		text += ", the steps up to now of a run that goes on"
	}
	return text
}

// TryWarm reads what the file names of earlier runs, and sees that the policy takes it.
func (w *Setup) TryWarm() error {
	earlier, err := w.ReadWarm(w.WarmFiles(nil))
	if err != nil {
		return err
	}
	for _, s := range earlier {
		w.WarmNotes = append(w.WarmNotes, WarmWords(s))
	}
	_, err = w.NewPolicy(earlier)
	return err
}
