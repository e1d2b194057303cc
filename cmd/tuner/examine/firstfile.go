package examine

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/cmd/tuner/describe"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/policy"
)

// Purpose is what a first file is for.
type Purpose struct {
	Name string
	// Objective is the channel that counts, Knobs those that are set: DEVICE.CHANNEL, or CHANNEL
	// where one device has it.
	Objective string
	Minimize  bool
	Knobs     []string
	Steps     int
}

// chosen is a channel with the device that has it.
type chosen struct {
	device *Instrumented
	drivers.DiscoveredChannel
}

// FirstFile is the text of a file for what was found.
func FirstFile(found []Instrumented, purpose Purpose) (string, error) {
	objective, err := choose(found, purpose.Objective)
	if err != nil {
		return "", fmt.Errorf("--objective %s: %w", purpose.Objective, err)
	}
	var knobs []chosen
	for _, name := range purpose.Knobs {
		k, err := choose(found, name)
		if err == nil && k.Access != drivers.ReadWrite {
			err = fault.Usage(fmt.Errorf("it can only be read"))
		}
		if err == nil {
			err = alreadyTaken(k, objective, knobs)
		}
		if err != nil {
			return "", fmt.Errorf("--knob %s: %w", name, err)
		}
		knobs = append(knobs, k)
	}
	all := append([]chosen{objective}, knobs...)
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("# Written by tuner init. Keys: tuner config, docs/reference/configuration.md.")
	line("schema = 1")
	line("name = %s", strconv.Quote(purpose.Name))
	goal := ""
	if purpose.Minimize {
		goal = `, goal = "minimize"`
	}
	line("objective = { sensor = %s%s }", strconv.Quote(plain(objective.Name)), goal)
	kind, why := policy.UsualKind(len(knobs)), ""
	if kind != policy.UsualKind(1) {
		why = "of many knobs it often finds the few that act sooner; "
	}
	line(`policy = { kind = %s }   # %sothers: docs/policies.md`, strconv.Quote(kind), why)
	line("stop = { steps = %d }   # the search's length; a comparison with the start follows", purpose.Steps)
	writeSensor(line, objective)
	for _, k := range knobs {
		writeKnob(line, k)
	}
	for _, d := range devicesOf(all) {
		line("\n# %s", oneLine(d.Says))
		line("[[device]]\nname = %s\ndriver = %s", strconv.Quote(d.Name), strconv.Quote(d.Driver))
		for _, key := range d.Keys {
			line("%s", key)
		}
		for _, c := range all {
			if c.device == d && len(c.Section) > 0 {
				line("[device.channel.%s]\n%s", strconv.Quote(c.Name), strings.Join(c.Section, "\n"))
			}
		}
	}
	return b.String(), nil
}

// alreadyTaken refuses a knob that is the objective, which would be its own setpoint, or was given before.
func alreadyTaken(k, objective chosen, knobs []chosen) error {
	same := func(o chosen) bool { return o.device == k.device && o.Name == k.Name }
	switch {
	case same(objective):
		return fault.Usage(fmt.Errorf("it is the objective, which nothing may set: give another --objective, or the others as --knob"))
	case slices.ContainsFunc(knobs, same):
		return fault.Usage(fmt.Errorf("it is given twice: leave one out"))
	}
	return nil
}

// writeSensor writes the sensor of the objective.
func writeSensor(line func(string, ...any), c chosen) {
	line("\n[[sensor]]\nname = %s\ndevice = %s", strconv.Quote(plain(c.Name)), strconv.Quote(c.device.Name))
	if plain(c.Name) != c.Name {
		line("channel = %s", strconv.Quote(c.Name))
	}
	if !c.Known || c.Unit == "" {
		unit, remark := c.Unit, ""
		if unit == "" {
			unit, remark = "1", `   # "1": none; it is not known`
		}
		line("unit = %s%s", strconv.Quote(unit), remark)
	}
	if low, high, known := limits(c); !c.Known || !known {
		remark := ""
		if !known {
			low, high, remark = -1e9, 1e9, "   # plausible values, which are not known: narrow them; what lies outside is no data"
		}
		line("range = [%s, %s]%s", decimal(low), decimal(high), remark)
	}
	line(`max_age = "10s"   # an older value is no data: longer than from one reading to the next`)
}

// writeKnob writes a variable with its limits.
func writeKnob(line func(string, ...any), c chosen) {
	name := plain(c.Name)
	line("\n[[variable]]\nname = %s\ndevice = %s", strconv.Quote(name), strconv.Quote(c.device.Name))
	if name != c.Name {
		line("channel = %s", strconv.Quote(c.Name))
	}
	low, high, known := limits(c)
	if !c.Known || c.Unit == "" {
		line("unit = %s", strconv.Quote(orOne(c.Unit)))
	}
	if !known {
		low, high = 0, 1
		line("range = [0.0, 1.0]   # CHANGE: the device does not say its limits")
	} else if !c.Known {
		line("range = [%s, %s]", decimal(low), decimal(high))
	}
	if low > 0 && high >= describe.WideSpan*low {
		line(`# scale = "log"   # its range spans %s times: take this where its effect goes with the ratio`, show.Number(high/low))
	}
	if c.Resolution == 0 && c.Accuracy == 0 || !c.Known {
		line("readback = { tolerance = %s }   # how near to its setpoint counts as there; a hundredth of the range", decimal((high-low)/100))
	}
	line("[safety.variable.%s]", name)
	if !known || !c.Known {
		line("hard = [%s, %s]   # nothing passes these", decimal(low), decimal(high))
	}
	line("slew = %s   # CHANGE: the fastest change per second that harms nothing; here the range in ten seconds", decimal((high-low)/10))
	switch {
	case math.IsNaN(c.Safe):
		line("safe = %s   # CHANGE: the value that harms nothing, which the device does not say", decimal(low))
	case !c.Known:
		line("safe = %s", decimal(c.Safe))
	}
}

// limits are a channel's, where both are known.
func limits(c chosen) (low, high float64, known bool) {
	return c.Min, c.Max, c.Min < c.Max // false where one is NaN
}

// choose finds a channel by CHANNEL or DEVICE.CHANNEL.
func choose(found []Instrumented, name string) (c chosen, err error) {
	var all []chosen
	var names []string
	for i := range found {
		d := &found[i]
		for _, ch := range d.Channels {
			names = append(names, d.Name+"."+ch.Name)
			if ch.Name == name || d.Name+"."+ch.Name == name {
				all = append(all, chosen{d, ch})
			}
		}
	}
	switch {
	case len(all) == 1:
		return all[0], nil
	case len(all) > 1:
		return c, fault.Usage(fmt.Errorf("several devices have it: write DEVICE.CHANNEL, one of %s", strings.Join(names, ", ")))
	case len(names) == 0:
		return c, fault.Usage(fmt.Errorf("nothing that answered has a channel"))
	}
	return c, fault.Usage(fmt.Errorf("there is no such channel; what answered has %s", strings.Join(names, ", ")))
}

// devicesOf are the devices of channels, each once.
func devicesOf(all []chosen) (devices []*Instrumented) {
	for _, c := range all {
		if !slices.Contains(devices, c.device) {
			devices = append(devices, c.device)
		}
	}
	return devices
}

// plain makes a name that may stand in a formula.
func plain(name string) string {
	text := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' {
			return r
		}
		return '_'
	}, name)
	if text == "" || text[0] >= '0' && text[0] <= '9' {
		text = "_" + text
	}
	return text
}

func orOne(unit string) string {
	if unit == "" {
		return "1"
	}
	return unit
}

// decimal is a number as TOML has it: with a point or an exponent.
func decimal(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return text
}

// oneLine keeps a foreign text within a comment.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
