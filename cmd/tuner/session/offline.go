package session

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/local"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// StrikeRecord strikes steps of a journal that no process writes, finished or not, or has them
// count again. It is on record as a command of this process, refused or followed, and acts on
// whatever is made of the journal from now on. The answer says what came of it.
//
// Errors: what reading and writing the journal gives; one that is being written is locked.
func StrikeRecord(e *host.Env, path, folder string, w loop.EditRequest, reason string) (a control.Answer, err error) {
	args, err := json.Marshal(struct {
		Reason string `json:"reason,omitempty"`
		control.Edit
	}{reason, w.Edit})
	if err != nil {
		return a, err
	}
	if w.Edit, err = control.ParseEdit(w.Command, args); err != nil {
		return a, fault.Usage(err)
	}
	r, err := journal.OpenReader(path)
	if err != nil {
		return a, err
	}
	s, err := setup.OfJournal(r, folder, e)
	if err != nil {
		return a, errors.Join(err, r.Close())
	}
	status, err := r.Status()
	if err != nil {
		return a, errors.Join(err, r.Close())
	}
	before, err := plan.ChangesIn(r)
	if err = errors.Join(err, r.Close()); err != nil {
		return a, err
	}
	now := journal.Stamp{Wall: e.Now().Round(0)}
	j, err := journal.Open(path, journal.Options{Amend: true, Session: journal.Session{Version: host.Version(), BootID: host.BootID(), Decisions: policy.DecisionsVersion, Start: now}})
	if errors.Is(err, disk.ErrLocked) {
		return a, fault.WithHint(err, "its run goes on: name the run, or its file, instead of its journal")
	}
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	order := journal.Command{Name: w.Command, Who: local.Person(os.Getuid(), os.Getpid()), Transport: "cli", Transaction: rand.Text(), Args: string(args), At: now}
	id, err := j.Order(order)
	if err != nil {
		return a, err
	}
	a = control.Answer{Transaction: order.Transaction, Command: w.Command, Code: control.CodeOK, OK: true}
	c, refusal := strike(path, &s.Options, before, w)
	if refusal == nil {
		c.From, c.Command, c.Who, c.Why = status.Steps+1, id, control.OriginOf(order.Who, order.Transport), reason
		facts, err := c.Facts()
		if err != nil {
			return a, err
		}
		if err := j.Log(journal.Event{Level: "info", Kind: journal.EventChanged, Message: c.Words, Facts: facts, Step: c.From, At: now}); err != nil {
			return a, err
		}
		a.Message = fmt.Sprintf("%s: in what is made of the record from now on", c.Words)
	} else {
		a.OK, a.Code, a.Message = false, control.CodeArgs, refusal.Error()
	}
	return a, j.Answer(id, journal.Answer{OK: a.OK, Code: a.Code, Message: a.Message, At: now})
}
