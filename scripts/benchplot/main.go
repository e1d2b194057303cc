// Command benchplot draws regret against cost or steps from the files that tuner bench
// writes: the mean over the seeds of each policy, with a band of two standard errors.
//
//	go run ./scripts/benchplot -o branin.svg branin.json
//	go run ./scripts/benchplot -x cost -y simple -log -o hartmann.png a.json b.json
//
// The ending of the output's name says the format: svg, png or pdf.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "benchplot: error: %v\n", err)
		os.Exit(1)
	}
}

// run draws what the command line asks for.
func run(args []string, stderr io.Writer) error {
	flags := flag.NewFlagSet("benchplot", flag.ContinueOnError)
	flags.SetOutput(stderr)
	var s style
	x := flags.String("x", "", "cost or step (default: cost where steps cost something)")
	y := flags.String("y", "simple", "simple, cumulative, weighted (by cost) or report (what would have been reported): regret; active or entropy: of priors; confusion: which prior decided where which was true")
	points := flags.Int("points", 0, "draw so many points of a curve at most, for small files (default: all)")
	output := flags.String("o", "", "file to draw: .svg, .png or .pdf")
	only := flags.String("policy", "", "comma-separated policies to draw, in this order (default: all)")
	flags.BoolVar(&s.log, "log", false, "logarithmic axis of regret")
	flags.StringVar(&s.title, "title", "", "title (default: the experiment)")
	flags.Usage = func() {
		fmt.Fprintln(stderr, "usage: benchplot -o FILE [flags] RESULTS...")
		flags.PrintDefaults()
	}
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *output == "" || flags.NArg() == 0 {
		return fmt.Errorf("give -o FILE and at least one file of results")
	}
	results, err := readAll(flags.Args())
	if err != nil {
		return err
	}
	if results, err = choose(results, *only); err != nil {
		return err
	}
	if s.title == "" {
		s.title = results[0].Experiment
	}
	if *y == "confusion" {
		return s.drawConfusion(results, *output)
	}
	a := axes{x: *x, y: *y, points: *points}
	if a.x == "" {
		a.x = cheaper(results)
	}
	curves, err := a.curves(results)
	if err != nil {
		return err
	}
	s.x, s.y = a.x, quantities[a.y].label
	return s.draw(curves, *output)
}

// choose keeps the named policies, in the order of the names.
func choose(results []result, only string) ([]result, error) {
	if only == "" {
		return results, nil
	}
	var out []result
	for _, name := range strings.Split(only, ",") {
		found := false
		for _, r := range results {
			if r.Policy == name {
				out, found = append(out, r), true
			}
		}
		if !found {
			return nil, fmt.Errorf("no policy %q in the files", name)
		}
	}
	return out, nil
}
