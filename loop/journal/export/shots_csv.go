package export

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

// shotColumn is a column of the CSV export of shots.
type shotColumn struct {
	name, unit, meaning string
	value               func(journal.Shot) string
}

// shotColumns lists the columns in order. An empty cell is no data.
func shotColumns(run journal.Run) []shotColumn {
	columns := []shotColumn{
		{"n", "1", "the step's number, from 1", func(s journal.Shot) string { return strconv.Itoa(s.Step) }},
		{"shot", "1", "the shot's number in its step, from 0", func(s journal.Shot) string { return strconv.Itoa(s.Index) }},
		{"objective", run.Objective.Unit, "the objective of the shot", func(s journal.Shot) string { return decimal(s.Objective) }},
	}
	for i, v := range run.Variables {
		columns = append(columns, shotColumn{"x_" + v.Name, v.Unit, "the variable as measured",
			func(s journal.Shot) string { return decimal(at(s.X, i)) }})
	}
	for i, v := range run.Sensors {
		columns = append(columns,
			shotColumn{"sensor_" + v.Name, v.Unit, "the sensor at the same instant", func(s journal.Shot) string { return decimal(at(s.Sensors, i)) }},
			shotColumn{"quality_" + v.Name, "", "why the sensor has no value; empty where it has one", func(s journal.Shot) string {
				if i >= len(s.Quality) {
					return ""
				}
				return s.Quality[i]
			}})
	}
	return append(columns, shotColumn{"time", "", "when it was taken: wall clock, UTC, RFC 3339", func(s journal.Shot) string {
		if s.At.Wall.IsZero() {
			return ""
		}
		return s.At.Wall.UTC().Format(time.RFC3339Nano)
	}})
}

// exportShotsCSV writes one row per shot.
func exportShotsCSV(w io.Writer, r *journal.Reader) error {
	out := csv.NewWriter(w)
	columns := shotColumns(r.Run())
	record := make([]string, len(columns))
	for i, c := range columns {
		record[i] = c.name
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for s, err := range r.Steps() {
		if err != nil {
			out.Flush()
			return err
		}
		shots, err := r.Shots(s.Decision.Step)
		if err != nil {
			out.Flush()
			return err
		}
		for _, shot := range shots {
			for i, c := range columns {
				record[i] = c.value(shot)
			}
			if err := out.Write(record); err != nil {
				return err
			}
		}
	}
	out.Flush()
	return out.Error()
}
