package configs

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// Declared is what a device says of one of its channels. tuner run writes it behind the file
// in the journal, so that a run that goes on, or is derived again, needs no device for it.
type Declared struct {
	Device     string   `toml:"device" required:"true" doc:"name of the device that said so"`
	Channel    string   `toml:"channel" required:"true" doc:"name of the device's channel"`
	Unit       string   `toml:"unit" doc:"unit of the channel, which the file's must equal"`
	Min        *float64 `toml:"min" unit:"the channel's" doc:"least value that the device accepts, or can read"`
	Max        *float64 `toml:"max" unit:"the channel's" doc:"largest value that the device accepts, or can read"`
	Safe       *float64 `toml:"safe" unit:"the channel's" doc:"the value that harms nothing: a stop goes there at once"`
	Resolution *float64 `toml:"resolution" unit:"the channel's" bound:"> 0" doc:"the device's smallest step"`
	Accuracy   *float64 `toml:"accuracy" unit:"the channel's" bound:"> 0" doc:"how far a reading may lie from the truth"`
}

// Ask is a key that the file leaves to a device which says itself what it is.
type Ask struct {
	Device string
	// Key as messages name it, such as variable.power.unit.
	Key string
}

// declaredBegins is the line that parts the file from what the devices said.
const declaredBegins = "# What the devices said of themselves when the run began; tuner wrote this."

// WithDeclared is the text of a file with what its devices said of themselves.
func WithDeclared(text []byte, all []Declared) ([]byte, error) {
	var b bytes.Buffer
	b.Write(bytes.TrimRight(text, "\n"))
	b.WriteString("\n\n" + declaredBegins + "\n")
	err := toml.NewEncoder(&b).Encode(map[string]any{"declared": all})
	return b.Bytes(), err
}

// DeclaredIn is the part of a text that WithDeclared has added, nil where it has none.
func DeclaredIn(text []byte) []byte {
	if i := bytes.Index(text, []byte("\n"+declaredBegins+"\n")); i >= 0 {
		return text[i:]
	}
	return nil
}

// completion fills the keys that a file leaves out from what else says them: the channel from
// the name, the others from what the device has declared.
type completion struct {
	known   *Known
	loc     *schema.Locator
	devices map[string]map[string]any
	said    []Declared
	asks    []Ask
}

// complete fills in a file's tree, and gives what is left to the devices.
func complete(tree map[string]any, known *Known, loc *schema.Locator) []Ask {
	c := completion{known: known, loc: loc, devices: map[string]map[string]any{}}
	for _, d := range tables(tree["device"]) {
		if name, ok := d["name"].(string); ok {
			c.devices[name] = d
		}
	}
	for _, d := range tables(tree["declared"]) {
		c.said = append(c.said, declaredOf(d))
	}
	for i, s := range tables(tree["sensor"]) {
		c.sensor(s, schema.Item("sensor", i))
	}
	limits, _ := at(tree, "safety", "variable").(map[string]any)
	for i, v := range tables(tree["variable"]) {
		if name, ok := v["name"].(string); ok && text(v, "device") != "" {
			own, _ := limits[name].(map[string]any)
			c.variable(v, own, schema.Item("variable", i), schema.Join("safety.variable", name))
		}
	}
	return c.asks
}

// tables are the elements of a repeated section, however it is written.
func tables(raw any) (all []map[string]any) {
	switch v := raw.(type) {
	case []map[string]any:
		return v
	case []any:
		for _, e := range v {
			if t, ok := e.(map[string]any); ok {
				all = append(all, t)
			} else {
				all = append(all, map[string]any{}) // it keeps its number, and is told elsewhere
			}
		}
	}
	return all
}

// at follows keys through a tree, nil where there is nothing.
func at(tree map[string]any, keys ...string) any {
	var v any = tree
	for _, key := range keys {
		table, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = table[key]
	}
	return v
}

func text(table map[string]any, key string) string {
	s, _ := table[key].(string)
	return s
}

// number reads a number of a tree, nil where there is none.
func number(v any) *float64 {
	switch t := v.(type) {
	case float64:
		return &t
	case int64:
		f := float64(t)
		return &f
	}
	return nil
}

func declaredOf(d map[string]any) Declared {
	return Declared{Device: text(d, "device"), Channel: text(d, "channel"), Unit: text(d, "unit"), Min: number(d["min"]), Max: number(d["max"]),
		Safe: number(d["safe"]), Resolution: number(d["resolution"]), Accuracy: number(d["accuracy"])}
}

// of is what a device says of a channel, with words for where that comes from. ask says that
// it has not been asked yet.
func (c *completion) of(device, channel string) (d Declared, source string, ask bool) {
	if i := slices.IndexFunc(c.said, func(d Declared) bool { return d.Device == device && d.Channel == channel }); i >= 0 {
		return c.said[i], fmt.Sprintf("device %s says so", device), false
	}
	keys := c.devices[device]
	if keys == nil || c.known == nil {
		return d, "", false
	}
	for _, driver := range c.known.Drivers {
		if driver.Name != text(keys, "driver") {
			continue
		}
		if driver.Declares != nil {
			if d, source, there := driver.Declares(keys, channel); there {
				return d, source, false
			}
		}
		asked := slices.ContainsFunc(c.said, func(d Declared) bool { return d.Device == device })
		return d, "", driver.Introduces && !asked
	}
	return d, "", false
}

// fill sets a key that the file leaves out, where there is something to set.
func (c *completion) fill(table map[string]any, at, key string, value any, source string) bool {
	if _, given := table[key]; given || value == nil {
		return given
	}
	table[key] = value
	c.loc.SetOrigin(schema.Join(at, key), source)
	return true
}

// want notes a key that the device is to be asked for.
func (c *completion) want(ask bool, device, at string, filled bool) {
	if ask && !filled {
		c.asks = append(c.asks, Ask{device, c.loc.Label(at)})
	}
}

// sensor fills in a [[sensor]].
func (c *completion) sensor(s map[string]any, at string) {
	name, device := text(s, "name"), text(s, "device")
	if name == "" || device == "" {
		return
	}
	c.fill(s, at, "channel", name, "the sensor's name")
	d, source, ask := c.of(device, text(s, "channel"))
	c.want(ask, device, at+".unit", c.fill(s, at, "unit", word(d.Unit), source))
	c.want(ask, device, at+".range", c.fill(s, at, "range", d.interval(), source))
}

// variable fills in a [[variable]] that is set, and its section of [safety].
func (c *completion) variable(v, own map[string]any, at, safety string) {
	device := text(v, "device")
	c.fill(v, at, "channel", text(v, "name"), "the variable's name")
	d, source, ask := c.of(device, text(v, "channel"))
	c.want(ask, device, at+".unit", c.fill(v, at, "unit", word(d.Unit), source))
	interval, from := d.interval(), source
	if hard, given := own["hard"]; given { // what is narrower holds
		interval, from = hard, "safety.variable."+text(v, "name")+".hard"
	}
	c.want(ask, device, at+".range", c.fill(v, at, "range", interval, from))
	if v["integer"] == nil && v["levels"] == nil && text(v, "kind") != "dose" {
		c.fill(v, at, "resolution", treeNumber(d.Resolution), source)
	}
	if text(v, "kind") == "dose" {
		return
	}
	back, is := v["readback"].(map[string]any)
	if v["readback"] == nil {
		back, is = map[string]any{}, true
	}
	if is {
		c.want(ask, device, at+".readback.tolerance", c.fill(back, at+".readback", "tolerance", d.tolerance(v), source+": its resolution and accuracy"))
		if len(back) > 0 {
			v["readback"] = back
		}
	}
	if own != nil {
		c.want(ask, device, safety+".hard", c.fill(own, safety, "hard", d.interval(), source))
		c.want(ask, device, safety+".safe", c.fill(own, safety, "safe", treeNumber(d.Safe), source))
	}
}

// word, treeNumber and interval are values of a tree, nil for what is not known.
func word(s string) any {
	if s == "" {
		return nil
	}
	return s
}

func treeNumber(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func (d *Declared) interval() any {
	if d.Min == nil || d.Max == nil || *d.Min >= *d.Max {
		return nil
	}
	return []any{*d.Min, *d.Max}
}

// tolerance is how far a readback lies from its setpoint at most where all is well: half a step by
// the setpoint's rounding, half a step by the reading's, and what the device is inaccurate by.
func (d *Declared) tolerance(v map[string]any) any {
	step, accuracy := 0.0, 0.0
	for _, from := range []*float64{d.Resolution, number(v["resolution"])} {
		if from != nil {
			step = math.Max(step, *from)
		}
	}
	if d.Accuracy != nil {
		accuracy = *d.Accuracy
	}
	if d.Resolution == nil && d.Accuracy == nil {
		return nil
	}
	return step + accuracy
}

// narrows checks that what the file says of a variable lies within what its device says.
func (k *checker) narrows() {
	c := completion{known: k.cfg.known, loc: k.Loc, devices: map[string]map[string]any{}, said: k.cfg.Declared}
	for _, d := range k.cfg.Devices {
		keys := d.own.Raw
		raw := map[string]any{"driver": d.Driver}
		for key, v := range keys {
			raw[key] = v
		}
		raw["channel"] = d.rawChannels()
		c.devices[d.Name] = raw
	}
	for i := range k.cfg.Sensors {
		s, key := &k.cfg.Sensors[i], schema.Item("sensor", i)
		d, source, _ := c.of(s.Device, s.Channel)
		k.sameUnit(key, s.Unit, d.Unit, source)
	}
	for i := range k.cfg.Variables {
		v, key := &k.cfg.Variables[i], schema.Item("variable", i)
		if !v.HasActuator() {
			continue
		}
		d, source, _ := c.of(v.Device, v.Channel)
		k.sameUnit(key, v.Unit, d.Unit, source)
		k.within(&d, v.Range, key+".range", source)
		if own, there := k.cfg.Safety.Variables[v.Name]; there {
			k.within(&d, own.Hard, schema.Join("safety.variable", v.Name)+".hard", source)
		}
		if d.Resolution != nil && v.Resolution != nil && *v.Resolution < *d.Resolution*(1-1e-9) {
			k.bad(key+".resolution", fmt.Sprintf("%s is finer than the device's, %s (%s)", schema.FormatNumber(*v.Resolution), schema.FormatNumber(*d.Resolution), source), "remove it, or write a multiple")
		}
	}
}

// sameUnit refuses another unit than the device's.
func (k *checker) sameUnit(at, unit, device, source string) {
	if device != "" && unit != "" && unit != device {
		k.bad(at+".unit", fmt.Sprintf("%q is not the device's unit, %q (%s)", unit, device, source), "remove it, or let the device convert")
	}
}

// within refuses an interval that reaches beyond what the device accepts.
func (k *checker) within(d *Declared, r Range, at, source string) {
	if d.Min != nil && r.Lo < *d.Min || d.Max != nil && r.Hi > *d.Max {
		k.bad(at, fmt.Sprintf("%s reaches beyond what the device accepts, %s (%s)", schema.FormatRange(r), d.words(), source), "a file may narrow it, not widen it")
	}
}

func (d *Declared) words() string {
	end := func(v *float64) string {
		if v == nil {
			return "..."
		}
		return schema.FormatNumber(*v)
	}
	return "[" + strings.Join([]string{end(d.Min), end(d.Max)}, ", ") + "]"
}

// Left are the problems of a file beside what it leaves to its devices.
func (c *Config) Left(problems []Problem) []Problem {
	return slices.DeleteFunc(slices.Clone(problems), c.asks)
}

// asks reports whether a problem is that a key is missing which a device may say.
func (c *Config) asks(p Problem) bool {
	return strings.HasPrefix(p.What, "missing") && slices.ContainsFunc(c.Asks, func(a Ask) bool {
		return a.Key == p.Key || strings.HasPrefix(a.Key, p.Key+".")
	})
}
