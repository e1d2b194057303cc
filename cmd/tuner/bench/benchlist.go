package bench

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/benchmarks/experiment"
)

// ListAsText prints one line per experiment, and the policies once for neighbours that
// have the same.
func ListAsText(w io.Writer, experiments []*experiment.Experiment) error {
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

func ListAsJSON(w io.Writer, experiments []*experiment.Experiment) error {
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
