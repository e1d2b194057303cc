package mqtt

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/labtuner/tuner/drivers"
)

// messages are those of a channel as a person may see them before anything is sent: what goes
// out for each of the values, and what is expected to come.
func messages(all []ChannelOptions, name string, values []float64) (shown []drivers.Message) {
	for _, o := range all {
		if o.Channel != name {
			continue
		}
		c, err := parseChannel(o)
		if err != nil {
			return nil // which is told elsewhere
		}
		for _, v := range values {
			shown = append(shown, c.setpointShown(v)...)
		}
		if c.release != "" {
			text := c.released
			if !c.plain {
				text = shownRelease
			}
			shown = append(shown, drivers.Message{Says: "sends to let go", Where: c.release, Text: text})
		}
		if c.poll != nil {
			shown = append(shown, drivers.Message{Says: fmt.Sprintf("asks every %v", c.poll.every), Where: c.poll.topic, Text: c.poll.payload})
		}
		if c.read != "" {
			shown = append(shown, c.readingShown(values)...)
		}
	}
	return shown
}

// shownRelease is a release of tuner's own form, with words for what differs.
const shownRelease = `{"release":true,"seq":SEQ,"ttl_ms":TTL,"session":"SESSION","sent_ms":MS}`

// setpointShown is the message of a setpoint.
func (c *channel) setpointShown(v float64) []drivers.Message {
	if c.write == "" {
		return nil
	}
	d := &Device{}
	raw := c.ToRaw(v)
	text := ""
	switch {
	case c.template != nil:
		text = c.template.render(raw)
	case c.plain:
		_, payload, _ := d.compose(c, &v, extras{}) // a number alone cannot fail
		text = string(payload)
	default:
		number, err := json.Marshal(raw)
		if err != nil {
			return nil
		}
		text = fmt.Sprintf(`{"value":%s,"seq":SEQ,"ttl_ms":%d,"session":"SESSION","sent_ms":MS}`, number, c.ttl.Milliseconds())
	}
	return []drivers.Message{{Says: "sends for " + c.shown(v), Where: c.write, Text: text}}
}

// shown is a value with its unit, where it has one.
func (c *channel) shown(v float64) string {
	text := strconv.FormatFloat(v, 'g', -1, 64)
	if c.Unit == "" || c.Unit == "1" {
		return text
	}
	return text + " " + c.Unit
}

// readingShown is the message that is expected: for the last of the values, where there is one.
func (c *channel) readingShown(values []float64) []drivers.Message {
	raw := any("NUMBER")
	says := "expects"
	if len(values) > 0 {
		v := values[len(values)-1]
		raw, says = c.ToRaw(v), "expects for "+c.shown(v)
	}
	put := func(number any, state any) string {
		root := c.path.put(nil, number)
		if len(c.unitPath) > 0 {
			root = c.unitPath.put(root, c.Unit)
		}
		if c.off != nil {
			root = c.off.put(root, state)
		}
		if c.timePath != nil {
			root = c.timePath.put(root, "2026-03-01T12:00:00+01:00")
		}
		text, err := json.Marshal(root)
		if err != nil {
			return ""
		}
		return strings.Replace(string(text), `"NUMBER"`, "NUMBER", 1)
	}
	state := any(nil)
	if c.off != nil {
		state = c.state(math.NaN()) // on
	}
	shown := []drivers.Message{{Says: says, Where: c.read, Text: put(raw, state)}}
	if c.off != nil {
		shown = append(shown, drivers.Message{Says: "expects for off, 0", Where: c.read, Text: put(raw, c.state(0))})
	}
	return shown
}
