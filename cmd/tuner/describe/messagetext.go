package describe

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"text/tabwriter"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/loop/plan"
)

// shownMessage is a message of a sensor's or a variable's channel.
type shownMessage struct {
	Name  string `json:"name"`
	Says  string `json:"says"`
	Where string `json:"where"`
	Text  string `json:"text"`
}

// messagesOf are the messages that devices show before anything is sent: for a variable at its
// safe value and at both ends of its range.
func messagesOf(w *setup.Setup) (all []shownMessage) {
	add := func(name string, c plan.Channel, values ...float64) {
		if c.Device < 0 || w.Devices[c.Device].Messages == nil {
			return
		}
		var shown []float64
		for _, v := range values {
			if !math.IsNaN(v) && !slices.Contains(shown, v) {
				shown = append(shown, v)
			}
		}
		for _, m := range w.Devices[c.Device].Messages(c.Name, shown) {
			all = append(all, shownMessage{name, m.Says, m.Where, m.Text})
		}
	}
	for i := range w.Options.Variables {
		switch v := &w.Options.Variables[i]; {
		case !v.Actuated:
		case v.Dose:
			add(v.Name, v.Channel, v.High)
		default:
			add(v.Name, v.Channel, v.Limits.Safe, v.Low, v.High)
		}
	}
	for _, s := range w.Options.Sensors {
		add(s.Name, s.Channel)
	}
	return all
}

// printMessages prints them.
func printMessages(t *tabwriter.Writer, all []shownMessage) {
	if len(all) == 0 {
		return
	}
	fmt.Fprintln(t, "\nmessages\t\ttopic\tbytes")
	for _, m := range all {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", m.Name, m.Says, shownBytes(m.Where), shownBytes(m.Text))
	}
	t.Flush()
}

// shownBytes are a message's bytes as they are, or quoted where a terminal would show them
// otherwise.
func shownBytes(text string) string {
	if text == "" {
		return "(empty)"
	}
	for _, r := range text {
		if r < ' ' || r == 0x7f {
			return strconv.Quote(text)
		}
	}
	return text
}
