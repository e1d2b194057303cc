package configs

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// checker relates the keys of a Config with each other. It runs also on a file
// whose keys had problems of their own, so that one reading shows everything;
// what depends on a key with a problem is then left out.
type checker struct {
	*schema.Walker
	cfg *Config
}

// The two forms of names. A plain name can stand in a formula; a label can stand
// in a topic or a file name.
var (
	plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	labelName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)
)

const (
	plainNameRule = "must be letters, digits and _, not starting with a digit"
	labelNameRule = "must be letters, digits, -, _ and ., starting with a letter or a digit"
)

// schemaVersion is what the key schema must say. It grows when a file that used
// to be right would be read in another sense.
const schemaVersion = 1

func (k *checker) all() {
	k.names()
	k.objective()
	for i := range k.cfg.Sensors {
		k.sensor(&k.cfg.Sensors[i], schema.Item("sensor", i))
	}
	for i := range k.cfg.Variables {
		k.variable(&k.cfg.Variables[i], schema.Item("variable", i))
	}
	k.sharedChannels()
	k.narrows()
	k.controlSets()
	k.cost()
	k.policy()
	k.stop()
	k.model()
	k.plant()
	k.domain()
	k.constraints()
	safetyChecker{k}.safety()
	k.inTicks()
	k.mqtt()
	k.web()
	k.notify()
}

// bad reports a problem of a key, unless that key or one of those involved could
// not be read. It leaves no suspicion behind: what one check says of a key does
// not silence the next.
func (k *checker) bad(at, what, hint string, involved ...string) {
	for _, key := range append(involved, at) {
		if k.suspect(key) {
			return
		}
	}
	k.Problems = append(k.Problems, k.Loc.Problem(at, what, hint))
}

// suspect reports whether a key, or a section around it, has a problem.
func (k *checker) suspect(at string) bool {
	for at != "" {
		if k.Suspects[at] {
			return true
		}
		at = at[:max(strings.LastIndexByte(at, '.'), strings.LastIndexByte(at, '['), 0)]
	}
	return false
}

// names checks the form of names and that none is given twice.
func (k *checker) names() {
	c := k.cfg
	if c.Schema != schemaVersion {
		k.bad("schema", fmt.Sprintf("this tuner reads schema %d, got %d", schemaVersion, c.Schema), fmt.Sprintf("write schema = %d", schemaVersion))
	}
	for _, own := range [][2]string{{"name", c.Name}, {"site", c.Site}} {
		if !labelName.MatchString(own[1]) {
			k.bad(own[0], fmt.Sprintf("%s, got %q", labelNameRule, own[1]), "")
		}
	}
	k.nameList("sensor", k.listNames("sensor"), plainName, plainNameRule)
	k.nameList("variable", k.listNames("variable"), plainName, plainNameRule)
	k.nameList("device", k.listNames("device"), labelName, labelNameRule)
}

func (k *checker) nameList(section string, names []string, form *regexp.Regexp, rule string) {
	for i, name := range names {
		at := schema.Item(section, i) + ".name"
		if !form.MatchString(name) {
			k.bad(at, fmt.Sprintf("%s, got %q", rule, name), "")
			continue
		}
		if first := slices.Index(names, name); first < i {
			k.bad(at, fmt.Sprintf("duplicate name %q: the first %s of this name is on line %d", name, section, k.Loc.Line(schema.Item(section, first)+".name")), "")
		}
	}
}

// listNames lists the names of the elements of a repeated section.
func (k *checker) listNames(section string) []string {
	var names []string
	switch section {
	case "sensor":
		for _, s := range k.cfg.Sensors {
			names = append(names, s.Name)
		}
	case "variable":
		for _, v := range k.cfg.Variables {
			names = append(names, v.Name)
		}
	case "device":
		for _, d := range k.cfg.Devices {
			names = append(names, d.Name)
		}
	}
	return names
}

// refers checks that a key names an existing element of a repeated section, and
// reports whether it does. Where the name of an element is itself in doubt, so is
// the absence of one.
func (k *checker) refers(at, section, name string) bool {
	names := k.listNames(section)
	if slices.Contains(names, name) {
		return true
	}
	involved := []string{section}
	for i := range names {
		involved = append(involved, schema.Item(section, i)+".name")
	}
	hint := schema.DidYouMean(name, names)
	if hint == "" && len(names) > 0 {
		hint = fmt.Sprintf("%ss of this file: %s", section, strings.Join(names, ", "))
	}
	k.bad(at, fmt.Sprintf("unknown %s %q", section, name), hint, involved...)
	return false
}

// channel checks a reference to a channel. Drivers whose devices introduce their
// own channels may have channels that the file does not mention.
func (k *checker) channel(at, device, channel string) {
	if !k.refers(at+".device", "device", device) {
		return
	}
	d, _ := k.cfg.Device(device)
	if channel == "" || k.cfg.known.introduces(d) {
		return
	}
	if _, ok := d.Channel(channel); ok {
		return
	}
	names := make([]string, len(d.Channels()))
	for i, c := range d.Channels() {
		names[i] = c.Name
	}
	hint := schema.DidYouMean(channel, names)
	if hint == "" {
		hint = fmt.Sprintf("device %q needs a section [device.channel.%s]", device, channel)
	}
	k.bad(at+".channel", fmt.Sprintf("device %q has no channel %q", device, channel), hint, schema.Join(d.own.At+".channel", channel), d.own.At+".driver")
}

// runTime is the longest that a run lasts, 0 where the file does not say.
func (k *checker) runTime() time.Duration {
	if k.cfg.Stop.Time == nil {
		return 0
	}
	return *k.cfg.Stop.Time
}

// given reports whether the file has a key.
func (k *checker) given(at string) bool {
	return k.Loc.Has(at)
}
