package commands

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/cmd/tuner/show"
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
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, - for stdout (default the journal's name with .html)")
	cmd.Flags().StringVar(&folder, "folder", "", "where the files are that the configuration names (default the configuration's own folder)")
	cmd.Flags().BoolVar(&derive, "derive", false, "derive every decision anew and tell whether it is as recorded")
	return cmd
}
