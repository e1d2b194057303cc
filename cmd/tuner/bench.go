package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/loop/benchmarks"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

func newBenchCommand(e *host.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "bench",
		Short: "The papers' experiments: list, run, merge",
		Long: `Play policies against the experiments of the papers that they come from, and some
of our own. loop/benchmarks/README.md describes problems, results and the format of
the files, and shows how a campaign is spread over a cluster.`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "tuner bench --help lists the commands"
			if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
				hint = "did you mean tuner bench " + strings.Join(near, " or ") + "?"
			}
			return fault.Usage(fault.WithHint(fmt.Errorf("no such command: %q", "bench "+args[0]), hint))
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.SuggestionsMinimumDistance = 2
	cmd.AddCommand(newBenchListCommand(e), newBenchRunCommand(e), newBenchMergeCommand(e))
	return cmd
}

func newBenchListCommand(e *host.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List experiments with their papers, budgets and policies",
		Args:  noArguments,
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return listAsJSON(e.Stdout, benchmarks.All())
			}
			return listAsText(e.Stdout, benchmarks.All())
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON document")
	return cmd
}

// listAsText prints one line per experiment, and the policies once for neighbours that
// have the same.
func listAsText(w io.Writer, experiments []*experiment.Experiment) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "EXPERIMENT\tBUDGET\tSEEDS\tFIGURE\tWHAT")
	paper := ""
	for i, x := range experiments {
		if x.Paper != paper {
			paper = x.Paper
			fmt.Fprintf(t, "%s:\n", paper)
		}
		fmt.Fprintf(t, "%s\t%s\t%d\t%s\t%s\n", x.Name, budgetWords(x), x.Seeds, x.Figure, x.About)
		policies := strings.Join(x.CompetitorNames(), ", ")
		if i+1 == len(experiments) || experiments[i+1].Paper != paper ||
			strings.Join(experiments[i+1].CompetitorNames(), ", ") != policies {
			fmt.Fprintf(t, "  policies: %s\n", policies)
		}
	}
	return t.Flush()
}

// budgetWords says how long an experiment is.
func budgetWords(x *experiment.Experiment) string {
	var parts []string
	if x.Budget > 0 {
		parts = append(parts, "cost "+show.Number(x.Budget))
	}
	if x.Steps > 0 {
		parts = append(parts, show.Count(x.Steps, "step"))
	}
	return strings.Join(parts, ", ")
}

// experimentLine is an experiment in JSON.
type experimentLine struct {
	Name   string  `json:"name"`
	Paper  string  `json:"paper"`
	Figure string  `json:"figure"`
	About  string  `json:"about"`
	Budget float64 `json:"budget,omitempty"`
	Steps  int     `json:"steps,omitempty"`
	Seeds  int     `json:"seeds"`
	// Policies in the order of a run.
	Policies []policyLine `json:"policies"`
}

type policyLine struct {
	Name  string `json:"name"`
	About string `json:"about"`
}

func listAsJSON(w io.Writer, experiments []*experiment.Experiment) error {
	var list struct {
		Type        string           `json:"type"`
		Experiments []experimentLine `json:"experiments"`
	}
	list.Type = "benchmarks"
	for _, x := range experiments {
		line := experimentLine{Name: x.Name, Paper: x.Paper, Figure: x.Figure, About: x.About,
			Budget: x.Budget, Steps: x.Steps, Seeds: x.Seeds}
		for _, c := range x.Competitors {
			line.Policies = append(line.Policies, policyLine{c.Name, c.About})
		}
		list.Experiments = append(list.Experiments, line)
	}
	text, err := show.EncodeLine(list)
	if err != nil {
		return err
	}
	_, err = w.Write(text)
	return err
}

// findExperiment is the experiment of this name; the error names the nearest.
func findExperiment(name string) (*experiment.Experiment, error) {
	x, err := benchmarks.Find(name)
	if err != nil {
		return nil, fault.Usage(fault.WithHint(err, nearestOf(name, benchmarks.Names(), "tuner bench list names them all")))
	}
	return x, nil
}

// nearestOf is the hint for an unknown name.
func nearestOf(name string, names []string, otherwise string) string {
	if near := configs.Nearest(name, names); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}
