package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/web"
)

func newReportCommand(e *host.Env) *cobra.Command {
	var output, folder string
	var derive bool
	cmd := &cobra.Command{
		Use:   "report JOURNAL...",
		Short: "Write a run as one HTML file, or compare several",
		Long: `Write a run as one HTML file: what was tuned, the recommended setting and how sure it is,
what each control set cost and brought, the model, every variable, safety events, the
configuration and hashes. It needs no network and no other file, and every figure in it
can be saved as PNG or CSV. The same journal gives the same bytes, also while a run is writing it.

The model is rebuilt from all steps on record, which takes a while for a very long run, and a
terminal shows how far it is.

With --derive every decision is derived again first, as tuner replay does, and the verdict
stands in the report.

Of two journals or more it compares the runs: the best so far over steps and over cost on shared
axes, what each recommends, what it cost, what re-measuring has shown, and every key of the
configurations that differs. They must have one unit and one sense of the objective; what else
makes them hard to compare is listed.`,
		Args:              journals,
		ValidArgsFunction: completeFiles("db"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if len(args) > 1 {
				if derive {
					return usagef("--derive is for one journal")
				}
				return compareRuns(cmd.Context(), e, args, folder, output)
			}
			r, err := outcome.OpenRecorded(e, args[0], folder)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			d, err := r.Document(cmd.Context(), derive)
			if err != nil {
				return err
			}
			if output == "-" {
				return web.WriteReport(e.Stdout, d)
			}
			if output == "" {
				output = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".html"
			}
			if err := host.WriteFile(output, func(out io.Writer) error { return web.WriteReport(out, d) }); err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.Stdout, "%s: %s of %s\n", output, show.Count(d.Total, "step"), d.Run.Name)
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, - for stdout (default the journal's name with .html; of several journals comparison.html)")
	cmd.Flags().StringVar(&folder, "folder", "", "where the files are that the configuration names (default the configuration's own folder)")
	cmd.Flags().BoolVar(&derive, "derive", false, "derive every decision again and say whether it is as recorded")
	return cmd
}

// journals accepts one journal or more, as many as can be compared.
func journals(cmd *cobra.Command, args []string) error {
	if n := len(args); n < 1 || n > outcome.ComparedMost {
		return fault.Usage(fault.WithHint(fmt.Errorf("%s takes a journal, or up to %d to compare, and got %d", cmd.CommandPath(), outcome.ComparedMost, n), cmd.UseLine()))
	}
	return nil
}

// compareRuns writes several runs beside each other.
func compareRuns(ctx context.Context, e *host.Env, paths []string, folder, output string) (err error) {
	var runs []*outcome.Recorded
	defer func() {
		for _, r := range runs {
			err = errors.Join(err, r.Close())
		}
	}()
	for _, path := range paths {
		r, err := outcome.OpenRecorded(e, path, folder)
		if err != nil {
			return err
		}
		runs = append(runs, r)
	}
	c, err := outcome.Compare(ctx, runs, paths)
	if errors.Is(err, outcome.ErrNotComparable) {
		return fault.Usage(fault.WithHint(err, "tuner report writes each by itself"))
	}
	if err != nil {
		return err
	}
	if output == "-" {
		return web.WriteComparison(e.Stdout, c)
	}
	output = cmp.Or(output, "comparison.html")
	if err := host.WriteFile(output, func(out io.Writer) error { return web.WriteComparison(out, c) }); err != nil {
		return err
	}
	_, err = fmt.Fprintf(e.Stdout, "%s: %s compared\n", output, show.Count(len(runs), "run"))
	return err
}
