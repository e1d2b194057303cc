package outcome

import (
	"cmp"
	"encoding/json"
	"errors"
	"os"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/web"
)

// Past says how the run of a journal stands, by what is on record; no model is asked.
func Past(path string) web.PastRun {
	p := web.PastRun{Journal: path, Best: NaN(), At: NaN()}
	if info, err := os.Stat(path); err == nil {
		p.At = journal.Number(info.ModTime().UnixMilli())
	}
	if err := fillPast(&p); err != nil {
		p.Error = err.Error()
	}
	return p
}

func fillPast(p *web.PastRun) (err error) {
	r, err := journal.OpenReader(p.Journal)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	run := r.Run()
	p.Name, p.Site, p.Mode, p.Unit = run.Name, run.Site, run.Mode, run.Objective.Unit
	status, err := r.Status()
	if err != nil {
		return err
	}
	p.Steps, p.State = max(status.Concluded-status.Compared, 0), "not finished"
	end, ok, err := r.Result()
	if err != nil || !ok {
		return err
	}
	p.State, p.At = cmp.Or(control.Endings()[end.Reason], end.Reason), journal.Number(end.At.Wall.UnixMilli())
	var told control.Result
	if err := json.Unmarshal(end.Document, &told); err != nil {
		return err
	}
	if len(told.Recommended) > 0 {
		p.Best = told.Mean
	}
	return nil
}
