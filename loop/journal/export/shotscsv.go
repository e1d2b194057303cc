package export

import (
	"io"
	"iter"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// shotColumns lists the columns in order. An empty cell is no data.
func shotColumns(run journal.Run) []column[journal.Shot] {
	columns := []column[journal.Shot]{
		{"n", "1", "the step's number, from 1", func(s journal.Shot) cell { return whole(s.Step) }},
		{"shot", "1", "the shot's number in its step, from 0", func(s journal.Shot) cell { return whole(s.Index) }},
		{"objective", run.Objective.Unit, "the objective of the shot", func(s journal.Shot) cell { return number(s.Objective) }},
	}
	for i, v := range run.Variables {
		columns = append(columns, column[journal.Shot]{"x_" + v.Name, v.Unit, "the variable as measured",
			func(s journal.Shot) cell { return number(at(s.X, i)) }})
	}
	for i, v := range run.Sensors {
		columns = append(columns,
			column[journal.Shot]{"sensor_" + v.Name, v.Unit, "the sensor at the same instant", func(s journal.Shot) cell { return number(at(s.Sensors, i)) }},
			column[journal.Shot]{"quality_" + v.Name, "", "why the sensor has no value; empty where it has one", func(s journal.Shot) cell {
				if i >= len(s.Quality) {
					return text("")
				}
				return text(s.Quality[i])
			}})
	}
	return append(columns, column[journal.Shot]{"time", "", "when it was taken: wall clock, UTC, RFC 3339", func(s journal.Shot) cell {
		return instant(s.At.Wall, time.RFC3339Nano)
	}})
}

// exportShotsCSV writes one row per shot.
func exportShotsCSV(w io.Writer, r *journal.Reader) error {
	return writeCSV(w, shotColumns(r.Run()), exportedShots(r))
}

// exportedShots gives the shots of a run, step by step.
func exportedShots(r *journal.Reader) iter.Seq2[journal.Shot, error] {
	return func(yield func(journal.Shot, error) bool) {
		shotsOf := r.ShotsAhead()
		for s, err := range r.Steps() {
			var shots []journal.Shot
			if err == nil {
				shots, err = shotsOf(s.Decision.Step)
			}
			if err != nil {
				yield(journal.Shot{}, err)
				return
			}
			for _, shot := range shots {
				if !yield(shot, nil) {
					return
				}
			}
		}
	}
}
