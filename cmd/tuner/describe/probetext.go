package describe

import (
	"fmt"
	"math"
	"text/tabwriter"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/journal"
)

// Probed is what one sensor or variable gave.
type Probed struct {
	Name    string         `json:"name"`
	Channel string         `json:"channel"`
	Unit    string         `json:"unit"`
	Value   journal.Number `json:"value"`
	// AgeMS is how old the value was when it came, LatencyMS how long the reading
	// took; null without a value.
	AgeMS     journal.Number `json:"age_ms"`
	LatencyMS journal.Number `json:"latency_ms"`
	// Problem says what is wrong, empty if nothing is.
	Problem string `json:"problem,omitempty"`
}

// printProbe prints the readings as a table.
func printProbe(t *tabwriter.Writer, readings []Probed) {
	fmt.Fprintln(t, "\nread\tvalue\tage\tlatency\tchannel")
	for _, r := range readings {
		value, age, latency := "-", "-", "-"
		if !math.IsNaN(float64(r.Value)) {
			value = show.Quantity(float64(r.Value), r.Unit)
			age, latency = show.Number(float64(r.AgeMS))+" ms", show.Number(float64(r.LatencyMS))+" ms"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s", r.Name, value, age, latency, r.Channel)
		if r.Problem != "" {
			fmt.Fprintf(t, "\t%s", r.Problem)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}
