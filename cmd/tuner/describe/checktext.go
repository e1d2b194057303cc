package describe

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
)

// WriteText tells a person.
func (c *Check) WriteText(out io.Writer) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s: %s at %s, in order\n\n", c.File, c.Name, c.Site)
	c.printHead(t)
	printVariables(t, c.Variables)
	offerLog(t, c.Variables)
	c.printSensors(t)
	printMessages(t, c.Messages)
	c.printSets(t)
	Safety(c.setup, t)
	if c.Probe != nil {
		printProbe(t, c.Probe)
	}
	if len(c.Warnings) > 0 {
		fmt.Fprintln(t, "\nwarnings: legal, but is it meant?")
		for _, n := range c.Warnings {
			fmt.Fprintf(t, "  line %d\t%s\t%s\n", n.Line, n.Key, n.What)
		}
	}
	if c.Effective != nil {
		fmt.Fprintln(t, "\nevery key:")
		for _, s := range c.Effective {
			fmt.Fprintf(t, "  %s\t= %s\t%s\n", s.Key, s.Value, s.Origin)
		}
	}
	return t.Flush()
}

// printHead says what is tuned, who decides and when it ends.
func (c *Check) printHead(t *tabwriter.Writer) {
	fmt.Fprintf(t, "objective\t%s\n", c.Objective)
	fmt.Fprintf(t, "policy\t%s\n", c.Policy)
	fmt.Fprintf(t, "model\t%s\n", c.Model)
	fmt.Fprintf(t, "decision\t%s\n", c.timed.Text())
	if c.Candidates > 0 {
		fmt.Fprintf(t, "domain\t%d candidates\n", c.Candidates)
	}
	fmt.Fprintf(t, "run\t%s\n", c.Run)
	if c.Verify != "" {
		fmt.Fprintf(t, "\t%s\n", c.Verify)
	}
	if c.setup.Config.MQTT != nil {
		fmt.Fprintf(t, "mqtt\t%s\n", c.MQTT)
	}
	for _, text := range c.Plant {
		fmt.Fprintf(t, "plant\t%s\n", text)
	}
	for _, text := range c.WarmStart {
		fmt.Fprintf(t, "model\t%s\n", text)
	}
	t.Flush()
}

func (c *Check) printSensors(t *tabwriter.Writer) {
	fmt.Fprintln(t, "\nsensor\tunit\tbelieved\tmax age\tchannel")
	for _, s := range c.Sensors {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", s.Name, s.Unit, show.Interval(float64(s.Low), float64(s.High)), inWords(s.MaxAge), s.Channel)
	}
	t.Flush()
}

func (c *Check) printSets(t *tabwriter.Writer) {
	heading := "cost of a step"
	if c.CostReading != "" {
		heading = fmt.Sprintf("cost of a step, until %s is read, which counts from then on", c.CostReading)
	}
	fmt.Fprintf(t, "\ncontrol set\t%s\n", heading)
	for _, s := range c.ControlSets {
		fmt.Fprintf(t, "%s\t%s\n", strings.Join(s.Variables, ", "), show.Quantity(s.Cost, c.CostUnit))
	}
	for _, m := range c.Moves {
		fmt.Fprintf(t, "and moving %s\t%s per %s\n", m.Variable, show.Quantity(m.Cost, c.CostUnit), m.Unit)
	}
	t.Flush()
}

// Doubt is a doubt with what to do about it.
func Doubt(d configs.Problem) string {
	if d.Hint == "" {
		return d.What
	}
	return d.What + " (" + d.Hint + ")"
}
