package describe

import (
	"fmt"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/remote"
)

// objectiveWords says what is measured.
func objectiveWords(w *setup.Setup) string {
	o := &w.Options.Objective
	goal := "maximize"
	if o.Minimize {
		goal = "minimize"
	}
	what := o.Name
	if o.Unit != "" && o.Unit != "1" {
		what += " in " + o.Unit
	}
	shots := "one shot"
	if o.Shots > 1 {
		shots = fmt.Sprintf("%s of %d shots", o.Statistic, o.Shots)
	}
	if o.Every > 0 {
		shots += fmt.Sprintf(", one every %s,", show.Duration(o.Every))
	}
	return fmt.Sprintf("%s %s, %s a step, at most %s for a shot", goal, what, shots, show.Duration(o.Timeout))
}

// mqttWords says what check tells of [mqtt].
func mqttWords(w *setup.Setup) string {
	m := w.Config.MQTT
	if m == nil {
		return "off: no status, no commands"
	}
	words := []string{"status at " + setup.Broker(w.Config).Broker + " under " + remote.NewTopics(w.Config.Site, w.Config.Name).Tree()}
	switch {
	case m.KeysFile != "":
		words = append(words, "signed commands are taken")
	case m.Commands:
		words = append(words, "commands are accepted from everyone who may publish at the broker")
	default:
		words = append(words, "no commands")
	}
	if m.Discovery != "" {
		words = append(words, "Home Assistant finds it")
	}
	if w.Config.BrokerInsecure() {
		words = append(words, "INSECURE: not encrypted or without a login, as allow_insecure says")
	}
	return strings.Join(words, "; ")
}

// Verification says what follows the search, "" if nothing does.
func Verification(w *setup.Setup) string {
	v := &w.Options.Verify
	if v.Pairs == 0 {
		return ""
	}
	if why := w.Options.Unverifiable(); why != "" {
		return "then does not measure the recommended setting against the starting one: " + why
	}
	var bounds []string
	if v.Cost > 0 {
		bounds = append(bounds, "at most "+show.Quantity(v.Cost, w.Options.Cost.Unit))
	}
	if v.Time > 0 {
		bounds = append(bounds, "at most "+show.Duration(v.Time))
	}
	text := fmt.Sprintf("then measures the recommended and the starting setting %d times each", v.Pairs)
	if len(bounds) > 0 {
		text += ", " + strings.Join(bounds, " and ") + " beside that"
	}
	return text
}

// Endings says when the run ends.
func Endings(w *setup.Setup) string {
	var ends []string
	stop := &w.Options.Stop
	if w.Options.Mode != plan.Shadow {
		if stop.Steps > 0 {
			ends = append(ends, "after "+show.Count(stop.Steps, "step"))
		}
		if n := stop.NoImprovement; n.Steps > 0 {
			ends = append(ends, "after "+show.Count(n.Steps, "step")+" without a better bound")
		}
		if n := stop.NoImprovement; n.Cost > 0 {
			ends = append(ends, "after a cost of "+show.Quantity(n.Cost, w.Options.Cost.Unit)+" without a better bound")
		}
		if stop.Target != nil {
			most := map[bool]string{false: "at least ", true: "at most "}[w.Options.Objective.Minimize]
			ends = append(ends, "when the recommended setting gives "+most+show.Quantity(*stop.Target, w.Options.Objective.Unit)+" by its pessimistic bound")
		}
		if stop.Cost > 0 {
			ends = append(ends, "at a cost of "+show.Quantity(stop.Cost, w.Options.Cost.Unit))
		}
	}
	if stop.Time > 0 {
		ends = append(ends, "after "+show.Duration(stop.Time))
	}
	switch len(ends) {
	case 0:
		return "ends when it is interrupted, as nothing is written and stop.time is absent"
	case 1:
		return "ends " + ends[0]
	}
	return "ends " + strings.Join(ends, " or ") + ", whichever comes first"
}
