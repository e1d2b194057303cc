package commands

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/export"
)

func newExportCommand(e *host.Env) *cobra.Command {
	var format, output string
	var shots, all bool
	cmd := &cobra.Command{
		Use:   "export JOURNAL",
		Short: "Write a journal as CSV, Parquet, JSON lines or Bluesky documents",
		Long: `Write a journal's steps, or all of it. A journal may be exported while a run is
writing it.

  csv      a row per step; with --shots a row per shot, with every sensor
  parquet  the same tables as a Parquet file, for pandas, polars, DuckDB and kin, with units
           and meanings in its metadata ("tuner.units")
  jsonl    a line per step and the result, as the run prints them with --json; with --all
           a line for every record: configurations, decisions, shots, actions, events,
           commands, comparisons
  bluesky  documents of Bluesky's event model, a line {"name": ..., "doc": ...} for each:
           start, descriptors and events of the streams primary (steps), verify and
           shots, and a stop where the run has ended

With -o the file appears under its name when it is complete, and beside a CSV file
lies NAME.units.json (NAME is FILE without its ending), which gives the unit and the meaning of each column.`,
		Args:              oneFile("a journal"),
		ValidArgsFunction: completeFiles("db"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			f, err := exportFormat(format, shots, all)
			if err != nil {
				return err
			}
			r, err := runfiles.OpenJournal(e, args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			write := func(w io.Writer) error { return export.Write(contextWriter{cmd.Context(), w}, r, f) }
			if output == "" && f.Binary() && e.IsTerminal(e.Stdout) {
				return fault.Usage(fault.WithHint(errors.New("a Parquet file is not for a terminal"), "-o FILE writes it there"))
			}
			if output == "" || output == "-" {
				return write(e.Stdout)
			}
			if err := host.WriteFile(output, write); err != nil {
				return err
			}
			describe := map[export.Format]func(io.Writer, *journal.Reader) error{export.CSV: export.WriteUnits, export.ShotsCSV: export.WriteShotUnits}[f]
			if describe == nil {
				return nil
			}
			units := strings.TrimSuffix(output, filepath.Ext(output)) + ".units.json"
			return host.WriteFile(units, func(w io.Writer) error { return describe(w, r) })
		},
	}
	cmd.Flags().StringVar(&format, "format", string(export.CSV), "csv, parquet, jsonl or bluesky")
	cmd.Flags().BoolVar(&shots, "shots", false, "a row per shot (csv, parquet)")
	cmd.Flags().BoolVar(&all, "all", false, "every record (jsonl)")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write (default stdout)")
	return cmd
}

// exportFormat finds the form that the flags ask for.
func exportFormat(format string, shots, all bool) (export.Format, error) {
	f := export.Format(format)
	switch {
	case f != export.CSV && f != export.Parquet && f != export.JSONL && f != export.Bluesky:
		return f, fault.Usage(fault.WithHint(fmt.Errorf("there is no export format %q", format), `--format is csv, parquet, jsonl or bluesky`))
	case shots && f != export.CSV && f != export.Parquet:
		return f, fault.Usage(fault.WithHint(errors.New("--shots is for csv and parquet"), "leave it out: jsonl --all and bluesky have the shots"))
	case all && f != export.JSONL:
		return f, fault.Usage(errors.New("--all is for jsonl"))
	case shots && f == export.Parquet:
		return export.ShotsParquet, nil
	case shots:
		return export.ShotsCSV, nil
	case all:
		return export.JSONLAll, nil
	}
	return f, nil
}

// contextWriter ends a long export when ctx does.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (c contextWriter) Write(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}
