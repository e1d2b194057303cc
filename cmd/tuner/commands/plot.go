package commands

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/loop/web/figure"
	"github.com/labtuner/tuner/loop/web/plots"
)

func newPlotCommand(e *host.Env) *cobra.Command {
	var o plots.Options
	var kind, output, size, folder string
	cmd := &cobra.Command{
		Use:   "plot JOURNAL",
		Short: "Draw a figure of a run for a talk or a paper: SVG, PDF or PNG",
		Long: `Draw a figure of a run for a talk or a paper, on a light ground, with title, units and key.
The ending of the output file says the format: .svg, .pdf or .png (three dots to a point).

Kinds of figures:
` + kindsText() + `
The model is rebuilt from all steps on record, which takes a while for a very long run. The same
journal gives the same file.`,
		Args:              oneFile("a journal"),
		ValidArgsFunction: completeFiles("db"),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			format, dimensions, err := figureForm(output, size)
			if err != nil {
				return err
			}
			r, err := outcome.OpenRecorded(e, args[0], folder)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, r.Close()) }()
			source, err := r.Figures(cmd.Context())
			if err != nil {
				return err
			}
			f, err := plots.Draw(source, kind, o)
			if errors.Is(err, plots.ErrNothing) {
				return err
			}
			if err != nil {
				return fault.Usage(err)
			}
			draw := func(out io.Writer) error { return f.Write(out, format, dimensions) }
			if output == "-" {
				return draw(e.Stdout)
			}
			if err := host.WriteFile(output, draw); err != nil {
				return err
			}
			_, err = fmt.Fprintf(e.Stdout, "%s: %s\n", output, f.Title)
			return err
		},
	}
	cmd.Flags().StringVar(&kind, "kind", plots.Kinds()[0].Name, "kind of figure")
	cmd.Flags().StringVarP(&output, "output", "o", "", "file to write, - for SVG on stdout")
	cmd.Flags().StringVar(&size, "size", "slide", "size: "+strings.Join(sizeNames(), ", "))
	cmd.Flags().StringVar(&o.X, "x", "", "contour: variable along (default: the two that matter most)")
	cmd.Flags().StringVar(&o.Y, "y", "", "contour: variable upward")
	cmd.Flags().StringVar(&o.Of, "of", "", "contour: "+strings.Join(plots.Aspects(), ", ")+" (default mean); acquisition while the run is not over")
	cmd.Flags().StringVar(&o.Over, "over", "", "progress: steps or cost (default steps)")
	cmd.Flags().StringVar(&folder, "folder", "", "where the files are that the configuration names (default the configuration's own folder)")
	completeFrom(cmd, "kind", kindNames()...)
	completeFrom(cmd, "size", sizeNames()...)
	completeFrom(cmd, "of", plots.Aspects()...)
	completeFrom(cmd, "over", "steps", "cost")
	return cmd
}

func usagef(format string, args ...any) error { return fault.Usage(fmt.Errorf(format, args...)) }

func completeFrom(cmd *cobra.Command, flag string, words ...string) {
	if err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)); err != nil {
		panic(err) // there is no such flag: a programming error
	}
}

func kindNames() (names []string) {
	for _, k := range plots.Kinds() {
		names = append(names, k.Name)
	}
	return names
}

func kindsText() (text string) {
	for _, k := range plots.Kinds() {
		text += fmt.Sprintf("  %-11s %s\n", k.Name, k.About)
	}
	return text
}

func sizeNames() (names []string) {
	for name := range figure.Sizes() {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// figureForm is the format that an output's name asks for, and the size by its name.
func figureForm(output, size string) (format string, s figure.Size, err error) {
	if output == "" {
		return "", s, usagef("name the file to write, such as -o figure.svg; its ending says the format (%s)", strings.Join(figure.Formats(), ", "))
	}
	s, ok := figure.Sizes()[size]
	if !ok {
		return "", s, usagef("size is %q, and may be %s", size, strings.Join(sizeNames(), ", "))
	}
	if output == "-" {
		return "svg", s, nil
	}
	format = strings.ToLower(strings.TrimPrefix(filepath.Ext(output), "."))
	if !slices.Contains(figure.Formats(), format) {
		return "", s, usagef("%s: the ending says no format of figures; there are .%s", output, strings.Join(figure.Formats(), ", ."))
	}
	return format, s, nil
}
