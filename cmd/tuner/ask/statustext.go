package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/remote"
)

// Status reads what the tuner tells, and prints it.
func (q *Question) Status(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, q.Env.Patience(askPatience))
	defer cancel()
	presence, text, err := q.read(ctx)
	if err != nil {
		return err
	}
	if q.JSON {
		return json.NewEncoder(q.Env.Stdout).Encode(map[string]any{"type": "status", "presence": presence, "status": text})
	}
	s, err := q.decode(text)
	if err != nil {
		return err
	}
	if err := q.Env.Print(func(w io.Writer) error { return PrintStatus(w, presence, s) }); !errors.Is(err, syscall.EPIPE) { // who reads has read enough
		return err
	}
	return nil
}

// State is what the tuner tells of how it stands.
func (q *Question) State(ctx context.Context) (*control.Status, error) {
	ctx, cancel := context.WithTimeout(ctx, q.Env.Patience(askPatience))
	defer cancel()
	_, text, err := q.read(ctx)
	if err != nil {
		return nil, err
	}
	return q.decode(text)
}

// read reads the state, wherever the run is.
func (q *Question) read(ctx context.Context) (remote.Presence, json.RawMessage, error) {
	if q.Run != nil {
		return q.stateHere(ctx)
	}
	return q.stateElsewhere(ctx)
}

// decode makes a status of a run's state.
func (q *Question) decode(text json.RawMessage) (*control.Status, error) {
	s := &control.Status{}
	if err := json.Unmarshal(text, s); err != nil {
		return nil, fmt.Errorf("%w: the run's state: %w", drivers.ErrProtocol, err)
	}
	// Until its loop has begun, a tuner tells of no name.
	if q.Run != nil {
		s.Name, s.Site = q.Run.Identity.Name, q.Run.Identity.Site
	} else {
		s.Name, s.Site = cmp.Or(s.Name, q.cfg.Name), cmp.Or(s.Site, q.cfg.Site)
	}
	return s, nil
}

// stateHere reads the state by the run's socket.
func (q *Question) stateHere(ctx context.Context) (remote.Presence, json.RawMessage, error) {
	i := q.Run.Identity
	p := remote.Presence{State: "online", Session: i.Session, Heartbeat: q.Env.Now().Round(0).UTC(), Version: i.Version, Run: i.Run, Mode: string(i.Mode), Commands: true}
	text, err := q.Run.Status(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %w: %w", drivers.ErrUnavailable, remote.ErrNoAnswer, err)
	}
	return p, text, err
}

// stateElsewhere reads it at the broker of the file.
func (q *Question) stateElsewhere(ctx context.Context) (remote.Presence, json.RawMessage, error) {
	c := remote.NewCaller(remote.NewTopics(q.cfg.Site, q.cfg.Name))
	client, p, err := q.reach(ctx, c)
	if err != nil {
		return p, nil, err
	}
	defer client.Close()
	text, err := c.State(ctx)
	if err != nil {
		err = fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	}
	return p, text, err
}

// PrintStatus tells a person how a run stands.
func PrintStatus(out io.Writer, p remote.Presence, s *control.Status) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	state := s.State
	if s.Paused {
		state += ", paused"
		if s.PausedBy != "" {
			state += " by " + show.Printable(s.PausedBy)
		}
	}
	if s.DryRun {
		state += ", dry run"
	}
	fmt.Fprintf(t, "%s at %s:\t%s %s (%s)\n", s.Name, s.Site, state, howLong(span(s.For)), s.Phase)
	for _, c := range s.Causes {
		fmt.Fprintf(t, "because\t%s\n", c.Text)
	}
	struck := ""
	if n := len(s.Struck); n > 0 {
		struck = fmt.Sprintf(", %d struck", n)
	}
	fmt.Fprintf(t, "step\t%s, %d concluded%s\n", stepText(s), s.Steps, struck)
	if d := s.Decision; d != nil && d.Because != "" {
		fmt.Fprintf(t, "why\t%s\n", show.Printable(d.Because))
	}
	if d := s.Decision; d != nil && d.Cuts > 0 {
		fmt.Fprintf(t, "cut\t%s since this start, by the deadline of %s: raise deadline in [policy] (tuner check says how far)\n", show.Count(d.Cuts, "decision"), show.Duration(span(d.Deadline)))
	}
	spent := show.Quantity(float64(s.Spent), s.CostUnit)
	if s.Budget > 0 {
		spent += " of " + show.Quantity(float64(s.Budget), s.CostUnit)
	}
	fmt.Fprintf(t, "spent\t%s\n", spent)
	elapsed := show.Duration(span(s.Elapsed))
	if s.Left.Known() {
		elapsed += ", about " + show.Duration(span(s.Left)) + " left"
	}
	fmt.Fprintf(t, "time\t%s\n", elapsed)
	if o := s.Outcome; o != nil && o.Mean.Known() {
		fmt.Fprintf(t, "last %s\t%s\n", s.Objective.Name, show.Quantity(float64(o.Mean), s.Objective.Unit))
	}
	if r := s.Recommended; r != nil {
		side := "at least"
		if s.Objective.Minimize {
			side = "at most"
		}
		fmt.Fprintf(t, "best\t%s, %s %s\n", show.Quantity(float64(r.Mean), s.Objective.Unit), side, show.Quantity(float64(r.Bound), s.Objective.Unit))
	}
	if r := s.Recommended; r != nil && r.Try != "" {
		fmt.Fprintf(t, "again\t%s\n", show.Printable(r.Try))
	}
	if c := s.Comparison; c != nil {
		fmt.Fprintf(t, "compared\t%s\n", comparisonWords(c))
	}
	if s.Error != "" {
		fmt.Fprintf(t, "error\t%s\n", s.Error)
	}
	if p.Insecure {
		fmt.Fprintf(t, "broker\tINSECURE: not encrypted or without a login\n")
	}
	t.Flush()
	fmt.Fprintln(t, "\nvariable\tunit\treads\tset to\tgoing to\tbest")
	for i, v := range s.Variables {
		best := inCell(journal.Number(math.NaN()))
		if r := s.Recommended; r != nil && i < len(r.Values) {
			best = inCell(r.Values[i])
			if i < len(r.Variables) && r.Variables[i].How != control.HowSet {
				best = r.Variables[i].Text
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", v.Name, v.Unit, inCell(v.Readback), inCell(v.Setpoint), inCell(v.Wanted), best)
	}
	t.Flush()
	fmt.Fprintln(t, "\nsensor\tunit\treads\tage")
	for _, v := range s.Sensors {
		age := "no value yet"
		if v.Age.Known() {
			age = show.Duration(span(v.Age))
			if !v.Valid {
				age += ", too old"
			}
		}
		if v.Odd != "" {
			age += ": " + v.Odd
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", v.Name, v.Unit, inCell(v.Value), age)
	}
	t.Flush()
	if !slices.ContainsFunc(s.Variables, func(v control.VariableStatus) bool { return v.OnStop != "" }) {
		return nil
	}
	fmt.Fprintln(t, "\nactuator\ttuner stop\ttuner end")
	for _, v := range s.Variables {
		if v.OnStop != "" {
			fmt.Fprintf(t, "%s\t%s\t%s\n", v.Name, v.OnStop, v.OnEnd)
		}
	}
	return t.Flush()
}

// howLong says for how long a state has lasted: what has just begun has no duration that
// means anything, for the run looks at itself once a tick.
func howLong(d time.Duration) string {
	if d < time.Second {
		return "since just now"
	}
	return "for " + show.Duration(d)
}

// inCell is a number in a table, four digits of it.
func inCell(x journal.Number) string {
	if !x.Known() {
		return "-"
	}
	return show.Digits(float64(x), 4)
}

// comparisonWords tells how the re-measuring at the end stands.
func comparisonWords(c *control.ComparisonStatus) string {
	switch {
	case c.Running:
		which := c.Setting
		if which == string(journal.Starting) {
			which = "starting"
		}
		return fmt.Sprintf("pair %d of %d, measuring the %s setting", c.Pair, c.Pairs, which)
	case c.Why != "":
		return "not with the starting setting: " + c.Why
	}
	return c.Words
}

// span is a number of seconds as a duration.
func span(s journal.Number) time.Duration { return time.Duration(float64(s) * float64(time.Second)) }

// stepText is the step of the search, of as many as there are to be: those of the comparison after
// it are numbered on, and are none of them.
func stepText(s *control.Status) string {
	if s.StepLimit > 0 {
		return fmt.Sprintf("%d of %d", min(s.Step, s.StepLimit), s.StepLimit)
	}
	return fmt.Sprint(s.Step)
}
