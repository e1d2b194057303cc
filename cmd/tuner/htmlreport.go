package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/advisor"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/export"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/loop/replay"
	"github.com/labtuner/tuner/loop/web"
)

func newReportCommand(e *host.Env) *cobra.Command {
	var output, folder string
	var derive bool
	cmd := &cobra.Command{
		Use:   "report JOURNAL",
		Short: "Write a run as one HTML file",
		Long: `Write a run as one HTML file: what was tuned, the recommended setting and how sure it is,
what each control set cost and brought, the model, every variable, safety events, the
configuration and hashes. It needs no network and no other file, and every figure in it
can be saved as PNG or CSV. The same journal gives the same bytes, also while a run is writing it.

The model is made anew from all steps on record: a run of very many takes its time, and a
terminal shows how far it is.

With --derive every decision is derived anew first, as tuner replay does, and the verdict
stands in the report.`,
		Args:              oneFile("a journal"),
		ValidArgsFunction: completeFiles("db"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			r, err := runfiles.OpenJournal(e, args[0])
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			w, err := setup.OfRun(r.Run(), folder, e)
			if err != nil {
				return err
			}
			status, err := r.Status()
			if err != nil {
				return err
			}
			tell := show.NewNarrator(e.Stderr, e.Style())
			defer tell.Close()
			d, err := document(cmd.Context(), w, r, derive, func(n int) {
				tell.Show(fmt.Sprintf("the model learns step %d of %d", n, status.Steps))
			})
			tell.Close()
			if err != nil {
				return err
			}
			if output == "-" {
				return web.WriteReport(e.Stdout, d)
			}
			if output == "" {
				output = strings.TrimSuffix(args[0], filepath.Ext(args[0])) + ".html"
			}
			if err := writeFile(output, func(out io.Writer) error { return web.WriteReport(out, d) }); err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.Stdout, "%s: %s of %s\n", output, show.Count(d.Total, "step"), d.Run.Name)
			return err
		},
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, - for stdout (default the journal's name with .html)")
	cmd.Flags().StringVar(&folder, "folder", "", "where the files are that the configuration names (default the configuration's own folder)")
	cmd.Flags().BoolVar(&derive, "derive", false, "derive every decision anew and tell whether it is as recorded")
	return cmd
}

// document is a journal as the renderer draws it, with the model that its steps give; step is
// told of each as the model learns it.
func document(ctx context.Context, w *setup.Setup, r *journal.Reader, derive bool, step func(n int)) (*web.Document, error) {
	earlier, err := r.Warm()
	if err != nil {
		return nil, err
	}
	p, err := w.NewPolicy(earlier)
	if err != nil {
		return nil, err
	}
	replay, verdict := replay.Decisions{Options: w.Options, Policy: p, Version: policy.DecisionsVersion, Lenient: true, Step: step}, ""
	if derive {
		done, err := replay.Run(ctx, r)
		if err != nil {
			return nil, err
		}
		if verdict = done.Words(); done.First != nil {
			verdict = fmt.Sprintf("step %d differs, after %d that agree: the %s was %s, and is now %s", done.First.Step, done.Steps, done.First.What, done.First.Recorded, done.First.Derived)
		}
	} else if err := replay.Teach(ctx, r); err != nil {
		return nil, err
	}
	picture, err := advisor.Picture(&w.Options, p)
	if err != nil {
		return nil, err
	}
	d, err := web.Collect(web.Source{Reader: r, Options: w.Options, Devices: w.DeviceNames(), Risk: w.Spec.Risk, Picture: &picture})
	if err != nil {
		return nil, err
	}
	d.Replay = verdict
	d.Hash, err = export.Hash(r)
	return d, err
}
