package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/loop/journal"
)

func newExportCommand(e *env) *cobra.Command {
	var format, output string
	cmd := &cobra.Command{
		Use:   "export JOURNAL",
		Short: "Write a journal's steps as CSV or JSON lines",
		Long: `Write a journal's steps as CSV or JSON lines. A journal may be exported while a
run is writing it.

With -o the file appears under its name when it is complete, and beside a CSV file
lies NAME.units.json (NAME is FILE without its ending), which gives the unit and the meaning of each column.`,
		Args:              oneFile("a journal"),
		ValidArgsFunction: completeFiles("db"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			f := journal.Format(format)
			if f != journal.CSV && f != journal.JSONL {
				return usageError{withHint(fmt.Errorf("there is no export format %q", format), `--format is csv or jsonl`)}
			}
			r, err := journal.OpenReader(args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			write := func(w io.Writer) error { return journal.Export(contextWriter{cmd.Context(), w}, r, f) }
			if output == "" || output == "-" {
				return write(e.stdout)
			}
			if err := writeFile(output, write); err != nil {
				return err
			}
			if f != journal.CSV {
				return nil
			}
			units := strings.TrimSuffix(output, filepath.Ext(output)) + ".units.json"
			return writeFile(units, func(w io.Writer) error { return journal.ExportUnits(w, r) })
		},
	}
	cmd.Flags().StringVar(&format, "format", string(journal.CSV), "csv or jsonl")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write (default stdout)")
	return cmd
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

// writeFile writes a file under a name of its own and renames it when it is
// complete, so that nobody takes half an export for a whole one.
func writeFile(path string, write func(io.Writer) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	err = errors.Join(f.Chmod(0o644), write(f), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
