package exec

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
)

// Protocol is the name and version of what both sides speak.
const Protocol = "tuner-exec/1"

// Bounds on what a hello may declare.
const (
	maxChannels = 1024
	maxName     = 128 // bytes
)

// hello is the child's first line, checked.
type hello struct {
	name     string
	channels []drivers.Channel // by the child's names, in its order
	holds    bool              // it keeps what a bye names
}

// parseHello reads and checks the child's first line.
func parseHello(line []byte) (hello, error) {
	object, err := wire.Object(line)
	if err != nil {
		return hello{}, err
	}
	protocol, ok := object["protocol"].(string)
	if !ok {
		return hello{}, fmt.Errorf(`%s has no text "protocol"; the first line says "protocol":%q`, wire.Quote(line), Protocol)
	}
	if protocol != Protocol {
		return hello{}, fmt.Errorf("the child speaks %s; this program speaks %q", wire.Quote([]byte(protocol)), Protocol)
	}
	h := hello{}
	if h.name, err = nameIn(object, "name"); err != nil {
		return hello{}, err
	}
	if v, there := object["holds"]; there {
		if h.holds, ok = v.(bool); !ok {
			return hello{}, fmt.Errorf(`"holds" is %s and must be true or false`, quoteValue(v))
		}
	}
	list, ok := object["channels"].([]any)
	if !ok || len(list) == 0 || len(list) > maxChannels {
		return hello{}, fmt.Errorf(`"channels" must be a list of 1 to %d channels`, maxChannels)
	}
	seen := map[string]bool{}
	for i, element := range list {
		members, ok := element.(map[string]any)
		if !ok {
			return hello{}, fmt.Errorf("channel %d of the hello is not an object", i+1)
		}
		c, err := parseChannel(members)
		if err != nil {
			return hello{}, fmt.Errorf("channel %d of the hello: %w", i+1, err)
		}
		if seen[c.Name] {
			return hello{}, fmt.Errorf("channel %d of the hello: the name %q comes twice", i+1, c.Name)
		}
		seen[c.Name] = true
		h.channels = append(h.channels, c)
	}
	return h, nil
}

// parseChannel reads one element of the hello's channels.
func parseChannel(members map[string]any) (drivers.Channel, error) {
	c := drivers.Channel{}
	var err error
	if c.Name, err = nameIn(members, "name"); err != nil {
		return c, err
	}
	if c.Unit, err = nameIn(members, "unit"); err != nil {
		return c, fmt.Errorf("%q: %w", c.Name, err)
	}
	switch members["access"] {
	case "r":
		c.Access = drivers.ReadOnly
	case "rw":
		c.Access = drivers.ReadWrite
	default:
		return c, fmt.Errorf(`%q: "access" is %s and must be "r" or "rw"`, c.Name, quoteValue(members["access"]))
	}
	for _, limit := range []struct {
		key string
		to  *float64
	}{{"min", &c.Min}, {"max", &c.Max}, {"safe", &c.Safe}} {
		*limit.to = math.NaN()
		if v, there := members[limit.key]; there {
			number, ok := v.(float64)
			if !ok {
				return c, fmt.Errorf("%q: %q is %s and must be a number, or be left out", c.Name, limit.key, quoteValue(v))
			}
			*limit.to = number
		}
	}
	for _, step := range []struct {
		key string
		to  *float64
	}{{"resolution", &c.Resolution}, {"accuracy", &c.Accuracy}} {
		if v, there := members[step.key]; there {
			number, ok := v.(float64)
			if !ok || number <= 0 {
				return c, fmt.Errorf("%q: %q is %s and must be a number above 0, or be left out", c.Name, step.key, quoteValue(v))
			}
			*step.to = number
		}
	}
	switch kind := members["kind"]; {
	case kind == nil || kind == "setpoint":
	case kind == "dose" && c.Access == drivers.ReadWrite:
		c.Dose = true
	case kind == "dose":
		return c, fmt.Errorf(`%q: "kind" is "dose", but access "r" leaves nothing to give`, c.Name)
	default:
		return c, fmt.Errorf(`%q: "kind" is %s and must be "setpoint" or "dose", or be left out`, c.Name, quoteValue(kind))
	}
	c.CanRelease = c.Access == drivers.ReadWrite
	if v, there := members["release"]; there {
		release, ok := v.(bool)
		if !ok {
			return c, fmt.Errorf(`%q: "release" is %s and must be true or false`, c.Name, quoteValue(v))
		}
		if release && c.Access == drivers.ReadOnly {
			return c, fmt.Errorf(`%q: "release" is true, but access "r" leaves nothing to release`, c.Name)
		}
		c.CanRelease = release
	}
	if v, there := members["lasts"]; there {
		lasts, ok := v.(bool)
		if !ok || lasts && c.Access == drivers.ReadOnly {
			return c, fmt.Errorf(`%q: "lasts" is %s and must be true or false, and false where access is "r"`, c.Name, quoteValue(v))
		}
		c.Lasts = lasts
	}
	return c, checkLimits(c)
}

// checkLimits checks that min < max and that safe lies between them. Limits
// that are not known are NaN, for which the comparisons hold back.
func checkLimits(c drivers.Channel) error {
	switch {
	case c.Min >= c.Max:
		return fmt.Errorf("%q: min (%v %s) must be below max (%v %s)", c.Name, c.Min, c.Unit, c.Max, c.Unit)
	case c.Safe < c.Min:
		return fmt.Errorf("%q: safe (%v %s) is below min (%v %s)", c.Name, c.Safe, c.Unit, c.Min, c.Unit)
	case c.Safe > c.Max:
		return fmt.Errorf("%q: safe (%v %s) is above max (%v %s)", c.Name, c.Safe, c.Unit, c.Max, c.Unit)
	}
	return nil
}

// nameIn reads a name: text that is not empty, not long and has no control
// characters, since it ends up in logs, tables and topics.
func nameIn(members map[string]any, key string) (string, error) {
	text, ok := members[key].(string)
	if !ok || text == "" {
		return "", fmt.Errorf("%q is %s and must be text that is not empty", key, quoteValue(members[key]))
	}
	if len(text) > maxName || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return "", fmt.Errorf("%q is %s; at most %d bytes and no control characters are allowed", key, wire.Quote([]byte(text)), maxName)
	}
	return text, nil
}

// quoteValue prints a value of foreign JSON in a message.
func quoteValue(v any) string {
	if v == nil {
		return "missing or null"
	}
	return wire.Quote(fmt.Append(nil, v))
}

// rename gives the hello's channels the names of the file. childName maps
// tuner's names to the child's for the channels that the file lists.
func (h hello) rename(childName map[string]string) ([]drivers.Channel, error) {
	tunerName := map[string]string{}
	for tuner, child := range childName {
		tunerName[child] = tuner
		if !slices.ContainsFunc(h.channels, func(c drivers.Channel) bool { return c.Name == child }) {
			return nil, fmt.Errorf("channel %q stands for the child's %q, which its hello does not offer; it offers %s", tuner, child, h.offers())
		}
	}
	renamed := slices.Clone(h.channels)
	for i, c := range renamed {
		if tuner, listed := tunerName[c.Name]; listed {
			renamed[i].Name = tuner
		} else if child, taken := childName[c.Name]; taken {
			return nil, fmt.Errorf("channel %q stands for the child's %q, but the child has a %q of its own; rename that one too", c.Name, child, c.Name)
		}
	}
	return renamed, nil
}

func (h hello) offers() string {
	var names []string
	for _, c := range h.channels {
		names = append(names, fmt.Sprintf("%q", c.Name))
	}
	return strings.Join(names, ", ")
}
