package session

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
)

// takeUp opens the journal of an unfinished run, brings the policy to where the run's
// was, and gives the loop what the run has behind it. A long journal takes its time, in
// which ctx may end.
func (s *session) takeUp(ctx context.Context, deps *loop.Deps) (err error) {
	o := journal.Options{Session: journal.Session{Version: s.run.Version, BootID: s.run.BootID, Decisions: s.run.Decisions, Start: s.run.Start}}
	if s.Extend {
		if o.Continue, err = s.extension(); err != nil {
			return err
		}
	}
	s.journal, err = journal.Open(s.Path, o)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.journal.Close())
		}
	}()
	r, err := journal.OpenReader(s.Path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	old, now := r.Run(), s.run
	if err := s.fits(old); err != nil {
		return err
	}
	if s.Warm, err = r.Warm(); err != nil {
		return err
	}
	past, err := replay.Recall(&s.Setup.Options, r)
	if err != nil {
		return err
	}
	last, err := newest(r)
	if err != nil {
		return err
	}
	overruled, remark := s.overruled(last, &past)
	if remark != "" {
		s.Remarks = append(s.Remarks, remark)
	}
	if o.Continue != "" {
		s.Remarks = append(s.Remarks, o.Continue)
	}
	if s.Setup, err = s.asChanged(r, past.Changes); err != nil {
		return fmt.Errorf("resume %s: what was changed while the run went on does not go with %s: %w", s.Path, s.base.Config.File, err)
	}
	if deps.Policy, err = s.Setup.NewPolicy(s.Warm); err != nil {
		return err
	}
	replay := replay.Decisions{Options: s.Setup.Options, Policy: deps.Policy, Version: policy.DecisionsVersion, Lenient: true, Sampled: true,
		Step: func(n int) {
			s.tell.Show(show.Counted(fmt.Sprintf("going on with %s: step %d/%d", s.Path, n, past.Steps), n, past.Steps))
		}}
	done, err := replay.Run(ctx, r)
	switch {
	case ctx.Err() != nil && past.Left && past.Steps > 0 && s.Setup.Options.Mode == plan.Live:
		return errors.Join(loop.ErrLeft, context.Cause(ctx))
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("resume %s: %w", s.Path, err)
	}
	s.run = old
	deps.Asked = past.Asked
	if past.Steps > 0 || past.WantEnd { // else the run begins, in the journal that is there
		deps.Past = &past
	}
	if err := s.recount(r); err != nil {
		return err
	}
	if len(past.Changes) > 0 { // these were decisions by another record
		done.First = nil
	}
	return s.tellResume(resumption{past, done, !bytes.Equal(last.Text, now.ConfigText), now, overruled})
}

// asChanged is the file's configuration with changes.
func (s *session) asChanged(r *journal.Reader, changes plan.Changes) (*setup.Setup, error) {
	if len(changes) == 0 {
		return s.Setup, nil
	}
	next, err := s.base.Anew(s.Env, changes)
	if err == nil {
		err = next.Strike(r, changes)
	}
	if err != nil {
		return nil, plainly(err)
	}
	w := *s.Setup
	w.Options, w.Spec = next.Options, next.Spec
	return &w, nil
}

// fits refuses to go on with a run that has other variables, sensors or sets than the file.
func (s *session) fits(old journal.Run) error {
	err := sameShape(old, s.run)
	if err == nil {
		return nil
	}
	return &disk.Error{Err: journal.ErrExists, Path: s.Path, Detail: "it holds a run with " + err.Error(),
		Hint: "change the configuration back, or begin a new run with --new, which moves this one aside"}
}

// newest is the configuration of the last session that took over another.
func newest(r *journal.Reader) (c journal.Configuration, err error) {
	all, err := r.Configurations()
	if err == nil {
		c = all[len(all)-1] // there is the run's at least
	}
	return c, err
}

// overruled has the keys that were changed while the run went on, and of which the file was
// changed since: the file counts. nil: there are none. It is added to the changes. remark is
// what is to be told, "": nothing.
func (s *session) overruled(before journal.Configuration, past *replay.Past) (c *plan.Change, remark string) {
	set := past.Changes.Settings()
	if len(set) == 0 || bytes.Equal(before.Text, s.base.Config.Text) {
		return nil, ""
	}
	old, err := setup.Parse(before.File, before.Text, s.Env)
	if err != nil {
		return nil, fmt.Sprintf("warning: the earlier configuration cannot be read, so the changes that commands made stay: %v", plainly(err))
	}
	c = &plan.Change{From: past.Steps + 1}
	for _, o := range old.Config.Changed(s.base.Config) {
		if _, changed := set[o.Key]; changed {
			c.Drop = append(c.Drop, o.Key)
		}
	}
	if len(c.Drop) == 0 {
		return nil, ""
	}
	c.Words = "the file was changed since a command changed this, and counts: " + strings.Join(c.Drop, ", ")
	past.Changes = append(past.Changes, *c)
	return c, ""
}

// rebuild makes the policy anew and brings it to where the journal ends. What has
// panicked or lost its way cannot be asked again as it is.
func (s *session) rebuild(ctx context.Context) (p policy.Policy, err error) {
	r, err := journal.OpenReader(s.journal.Path())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	changes, err := plan.ChangesIn(r)
	if err != nil {
		return nil, err
	}
	w, err := s.asChanged(r, changes)
	if err != nil {
		return nil, err
	}
	if p, err = w.NewPolicy(s.Warm); err != nil {
		return nil, err
	}
	replay := replay.Decisions{Options: w.Options, Policy: p, Version: policy.DecisionsVersion, Lenient: true, Brief: true}
	if _, err := replay.Run(ctx, r); err != nil {
		return nil, fmt.Errorf("replay %s: %w", s.Path, err)
	}
	return p, nil
}

// sameShape refuses a configuration that the recorded steps do not fit.
func sameShape(old, now journal.Run) error {
	switch {
	case old.Mode != now.Mode:
		return fmt.Errorf("mode %s, not %s", old.Mode, now.Mode)
	case !slices.Equal(old.Variables, now.Variables):
		return fmt.Errorf("the variables %v, not %v", old.Variables, now.Variables)
	case !slices.Equal(old.Sensors, now.Sensors):
		return fmt.Errorf("the sensors %v, not %v", old.Sensors, now.Sensors)
	case old.Objective != now.Objective:
		return fmt.Errorf("the objective %v, not %v", old.Objective, now.Objective)
	case old.Minimize != now.Minimize:
		goal := map[bool]string{false: "maximize", true: "minimize"}
		return fmt.Errorf("the goal %s, not %s", goal[old.Minimize], goal[now.Minimize])
	}
	same := func(a, b journal.ControlSet) bool { return slices.Equal(a.Variables, b.Variables) }
	if !slices.EqualFunc(old.ControlSets, now.ControlSets, same) {
		return fmt.Errorf("the control sets %v, not %v", old.ControlSets, now.ControlSets)
	}
	return nil
}

// recount lets the report count the steps of before.
func (s *session) recount(r *journal.Reader) error {
	for step, err := range r.Steps() {
		if err != nil {
			return err
		}
		if step.Concluded {
			s.tally.Add(step.Decision, step.Outcome)
		}
	}
	return nil
}

// resumption is what there is to tell of a run that goes on.
type resumption struct {
	past    replay.Past
	done    replay.Replayed
	changed bool
	now     journal.Run
	// overruled is what the file has overruled, nil: nothing.
	overruled *plan.Change
}

// tellResume says and records how a run goes on.
func (s *session) tellResume(p resumption) error {
	record := func(level, message string) error {
		s.Remarks = append(s.Remarks, message)
		return s.journal.Log(journal.Event{Level: level, Kind: "resume", Message: message, At: journal.Stamp{Wall: s.Clock.Now().Round(0)}})
	}
	text := fmt.Sprintf("resumed %s after %s", s.Path, show.Count(p.past.Steps, "step"))
	if p.past.Steps == 0 {
		text = fmt.Sprintf("begins in %s, which holds no step yet: what was recorded there stays", s.Path)
	}
	if p.past.Open != nil {
		text += fmt.Sprintf("; step %d was in flight and counts as unknown", p.past.Open.Step)
	}
	err := record("info", text)
	if p.changed {
		err = errors.Join(err, s.journal.Configure(p.now),
			record("info", "the configuration was changed since the last session: the journal keeps both, and decisions go on by the present one"))
	}
	if c := p.overruled; c != nil {
		facts, ferr := c.Facts()
		s.Remarks = append(s.Remarks, c.Words)
		err = errors.Join(err, ferr, s.journal.Log(journal.Event{Level: "info", Kind: journal.EventChanged, Message: c.Words, Facts: facts, Step: c.From, At: journal.Stamp{Wall: s.Clock.Now().Round(0)}}))
	}
	for _, c := range p.past.Undone {
		err = errors.Join(err, record("warn", fmt.Sprintf("%s, asked for by %s, was not done: the process ended before it was; ask again", c.Name, control.OriginOf(c.Who, c.Transport))))
	}
	if n := p.done.Foreign; n > 0 {
		err = errors.Join(err, record("info", fmt.Sprintf("a version that decides otherwise has made %s of these: the model was rebuilt from what was measured, and decisions go on by this version", show.Count(n, "step"))))
	}
	if d := p.done.First; d != nil {
		err = errors.Join(err, record("warn", fmt.Sprintf("by the present configuration and version step %d would have been another (%s: %s, was %s): what was learnt is kept",
			d.Step, d.What, d.Derived, d.Recorded)))
	}
	return err
}

// StartMode says how a run begins: as the flag says, else by who has started it.
func StartMode(e *host.Env, flag string) (plan.StartMode, error) {
	switch flag {
	case "":
		if e.IsService() {
			return plan.StartHold, nil
		}
		return plan.StartNow, nil
	case "hold":
		return plan.StartHold, nil
	case "run":
		return plan.StartRun, nil
	case "never":
		return "", fault.WithHint(fmt.Errorf("%w: --resume never begins nothing; nothing was driven", loop.ErrSafety),
			"start the run on a terminal: tuner run CONFIG")
	}
	return "", fault.Usage(fault.WithHint(fmt.Errorf("--resume is %q", flag), "it is never, hold or run"))
}

// WarmFor returns what the policy of a run with its journal at path learns from earlier runs: nothing where
// it goes on, because its journal has that. It is read before that journal may be moved
// aside, as it may be one of them.
func WarmFor(w *setup.Setup, path string, want runfiles.Wanted, named []string) ([]journal.WarmSource, error) {
	old, err := runfiles.LookAt(path)
	if err != nil || !old.GoesOn(want) {
		return w.ReadWarm(w.WarmFiles(named))
	}
	if len(named) > 0 {
		return nil, fault.Usage(fault.WithHint(fmt.Errorf("%s holds a run that goes on, and began with earlier runs", path),
			"leave --warm-start out, or begin a new run with --new"))
	}
	return nil, nil
}
