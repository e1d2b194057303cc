package export

import (
	"encoding/json"
	"io"

	"github.com/labtuner/tuner/loop/journal"
)

// Units describes the columns of a table: in a file beside a CSV export, in the metadata of a Parquet file.
type Units struct {
	// Run is the run's ID, Name its name.
	Run  string `json:"run"`
	Name string `json:"name"`
	// Columns in the order of the CSV header.
	Columns []ColumnUnit `json:"columns"`
}

// ColumnUnit describes a column. Unit is "1" for a pure number and empty for what
// is no number.
type ColumnUnit struct {
	Name    string `json:"name"`
	Unit    string `json:"unit"`
	Meaning string `json:"meaning"`
}

// WriteUnits writes the Units of the CSV export as an indented JSON document.
func WriteUnits(w io.Writer, r *journal.Reader) error {
	return writeUnits(w, r.Run(), stepColumns(r.Run()))
}

// WriteShotUnits writes the Units of the CSV export of shots.
func WriteShotUnits(w io.Writer, r *journal.Reader) error {
	return writeUnits(w, r.Run(), shotColumns(r.Run()))
}

func writeUnits[T any](w io.Writer, run journal.Run, columns []column[T]) error {
	u := unitsOf(run, columns)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(u)
}

func unitsOf[T any](run journal.Run, columns []column[T]) Units {
	u := Units{Run: run.ID, Name: run.Name}
	for _, c := range columns {
		u.Columns = append(u.Columns, ColumnUnit{Name: c.name, Unit: c.unit, Meaning: c.meaning})
	}
	return u
}
