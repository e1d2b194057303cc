package export

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// Format is a form of export.
type Format string

// The forms of export.
const (
	// CSV has one row per step under a header; WriteUnits describes its columns.
	CSV Format = "csv"
	// JSONL has a [control.Step] per step, then the run's result as it was printed, or
	// an UnfinishedLine.
	JSONL Format = "jsonl"
	// JSONLAll has everything that the journal holds, a line for each record.
	JSONLAll Format = "jsonl-all"
	// ShotsCSV has one row per shot under a header; WriteShotUnits describes its columns.
	ShotsCSV Format = "shots-csv"
	// Parquet and ShotsParquet are those tables as Parquet files, with Units in their metadata.
	Parquet      Format = "parquet"
	ShotsParquet Format = "shots-parquet"
	// Bluesky has the documents of Bluesky's event model, one a line.
	Bluesky Format = "bluesky"
)

// Binary says that the form is no text.
func (f Format) Binary() bool { return f == Parquet || f == ShotsParquet }

// Write writes the steps of a run. A step that is still open, as after a crash,
// comes last with "unfinished" as its problem; Status says beforehand whether the
// run is finished.
//
// On damage it stops with an ErrCorrupt that names the row; what it wrote before
// that is sound. It ends with Verify, so nil means that nothing is missing, too.
func Write(w io.Writer, r *journal.Reader, f Format) error {
	b := bufio.NewWriter(w)
	var err error
	switch f {
	case CSV:
		err = exportCSV(b, r)
	case JSONL:
		err = exportJSONL(b, r)
	case JSONLAll:
		err = exportAll(b, r)
	case ShotsCSV:
		err = exportShotsCSV(b, r)
	case Parquet:
		var steps iter.Seq2[exported, error]
		if steps, err = exportedSteps(r); err == nil {
			err = writeParquet(b, r.Run(), stepColumns(r.Run()), steps)
		}
	case ShotsParquet:
		err = writeParquet(b, r.Run(), shotColumns(r.Run()), exportedShots(r))
	case Bluesky:
		err = exportBluesky(b, r)
	default:
		return fmt.Errorf("there is no export format %q; choose %q, %q, %q, %q, %q, %q or %q", string(f), CSV, ShotsCSV, Parquet, ShotsParquet, JSONL, JSONLAll, Bluesky)
	}
	if flush := b.Flush(); err == nil {
		err = flush
	}
	if err != nil {
		return err
	}
	return r.Sound()
}

func exportJSONL(w io.Writer, r *journal.Reader) error {
	// The result is asked for first: should it come while the steps are read, the
	// export shows an unfinished run with some steps more, never a finished one
	// with some steps less.
	result, finished, err := r.Result()
	if err != nil {
		return err
	}
	end := UnfinishedLine{Type: "unfinished", Message: "the run has no result: it is going on, or it was interrupted"}
	lines := json.NewEncoder(w)
	lines.SetEscapeHTML(false)
	run := r.Run()
	struck, err := r.Struck()
	if err != nil {
		return err
	}
	for s, err := range r.Steps() {
		if err != nil {
			return err
		}
		end.Steps++
		if !s.Concluded {
			end.OpenStep = &s.Decision.Step
		}
		if err := lines.Encode(control.StepOf(run, s.Decision, s.Outcome).Marked(struck)); err != nil {
			return err
		}
	}
	if !finished {
		return lines.Encode(end)
	}
	_, err = fmt.Fprintf(w, "%s\n", result.Document)
	return err
}
