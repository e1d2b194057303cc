package describe

import (
	"fmt"
	"slices"
	"text/tabwriter"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop/plan"
)

// waitWords say what a safe value waits for on device number i.
func waitWords(w *setup.Setup, i int) string {
	d := &w.Devices[i]
	most := d.SafeWait()
	if most == 0 {
		words := "for nothing: it overtakes what is under way"
		if d.Broker != "" {
			words += "; over a link that has died without a sign it leaves again after " + show.Duration(mqtt.BrokerWait) + ", over a new connection"
		}
		return words
	}
	words := "for the request under way, " + show.Duration(most) + " at most"
	if last := d.LastSafeWait(w.Config); last > 0 {
		words += "; the last of its actuators, which are told one after the other, " + show.Duration(last)
	}
	if d.Exit > 0 {
		if slices.ContainsFunc(w.Options.Variables, func(v plan.Variable) bool { return v.Dose && v.Channel.Device == i }) {
			words += "; for a dose until it has been given, where the child answers only then"
		}
		words += "; where the child hangs, until it has ended (" + show.Duration(most+d.Exit) + " at most) and another has started"
	}
	return words
}

// checkWaits prints what a safe value waits for on each device that is set.
func checkWaits(w *setup.Setup, t *tabwriter.Writer) {
	first := true
	for i := range w.Devices {
		d := &w.Devices[i]
		if !setup.Acts(w.Config, d.Name) || d.Build == nil {
			continue
		}
		if first {
			fmt.Fprint(t, "\ndevice\tdriver\ta safe value waits\n")
			first = false
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", d.Name, d.Driver, waitWords(w, i))
	}
	t.Flush()
	for i := range w.Devices {
		if d := &w.Devices[i]; d.Late != "" && setup.Acts(w.Config, d.Name) {
			fmt.Fprintf(t, "setpoints to %s that may come late, after a stall: %s\n", d.Name, d.Late)
		}
	}
	t.Flush()
}
