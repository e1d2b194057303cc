package ask

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/local"
	"github.com/labtuner/tuner/loop/web"
)

// listed is a run of this computer with how it stands.
type listed struct {
	// ID names it among all of them, Socket is where it is reached.
	ID       string          `json:"id"`
	Socket   string          `json:"socket"`
	Identity *web.Identity   `json:"identity"`
	Status   json.RawMessage `json:"status"`
	// Error is why nothing is known of it, "" where something is.
	Error string `json:"error"`
}

// ListRuns prints all runs of this computer that the user may see, a line each.
func ListRuns(ctx context.Context, e *host.Env, asJSON bool) error {
	ctx, cancel := context.WithTimeout(ctx, e.Patience(askPatience))
	defer cancel()
	runs := local.List(ctx, e.Places().All(), "")
	list := []listed{}
	for _, s := range local.Standings(ctx, runs) {
		list = append(list, standing(&s))
	}
	if asJSON {
		return json.NewEncoder(e.Stdout).Encode(map[string]any{"type": "runs", "runs": list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(e.Stdout, "no run that you may reach is on this computer")
		return err
	}
	t := tabwriter.NewWriter(e.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "run\tmode\tstate\tstep\tbest\tpaused by")
	for i, r := range list {
		if r.Error != "" {
			fmt.Fprintf(t, "%s\t\t%s\n", r.ID, show.Printable(r.Error))
			continue
		}
		var s control.Status
		if err := json.Unmarshal(r.Status, &s); err != nil {
			return err
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", nameOf(runs, i), show.ModeWords(string(r.Identity.Mode)), strings.Join(cells(&s), "\t"))
	}
	if err := t.Flush(); !errors.Is(err, syscall.EPIPE) { // who reads has read enough
		return err
	}
	return nil
}

// standing is a run as it is listed.
func standing(s *local.Standing) listed {
	l := listed{ID: s.Run.ID, Socket: s.Run.Socket, Status: s.Status, Error: s.Trouble}
	if s.Run.Err == nil {
		l.Identity = &s.Run.Identity
	}
	return l
}

// nameOf is what run i is called on the command line: its name where no other has it.
func nameOf(runs []local.Run, i int) string {
	for j := range runs {
		if j != i && runs[j].Identity.Name == runs[i].Identity.Name {
			return runs[i].ID
		}
	}
	return cmp.Or(runs[i].Identity.Name, runs[i].ID)
}

// cells are how a run stands: state, step, best, who has paused it.
func cells(s *control.Status) []string {
	state := s.State + " for " + show.Duration(span(s.For))
	if s.Paused {
		state = "paused for " + show.Duration(span(s.For))
	}
	step := stepText(s)
	best, by := "-", "-"
	if r := s.Recommended; r != nil {
		best = show.Quantity(float64(r.Mean), s.Objective.Unit)
	}
	if s.Paused {
		by = cmp.Or(s.PausedBy, "unknown")
	}
	return []string{state, step, best, by}
}

// Names lists what the runs of this computer may be called, for a shell's completion.
func Names(ctx context.Context, e *host.Env) (out []string) {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	runs := local.List(ctx, e.Places().All(), "")
	for i := range runs {
		out = append(out, nameOf(runs, i))
	}
	return out
}
