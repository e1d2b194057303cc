package remote

import (
	"fmt"
	"strings"
)

// Home Assistant's device discovery: sensors and one button that stops. There are no knobs:
// what tunes the instrument is the tuner, within the limits of its file.

// expireFactor is how many heartbeats a sensor's value outlives its message in Home
// Assistant.
const expireFactor = 3

// haDevice, haOrigin and haComponent are Home Assistant's words.
type haDevice struct {
	Identifiers  []string `json:"identifiers"`
	Name         string   `json:"name"`
	Manufacturer string   `json:"manufacturer"`
	Model        string   `json:"model"`
	Version      string   `json:"sw_version,omitempty"`
}

type haOrigin struct {
	Name    string `json:"name"`
	Version string `json:"sw_version,omitempty"`
}

type haAvailability struct {
	Topic    string `json:"topic"`
	Template string `json:"value_template"`
}

type haComponent struct {
	Platform     string `json:"platform"`
	UniqueID     string `json:"unique_id"`
	Name         string `json:"name"`
	StateTopic   string `json:"state_topic,omitempty"`
	Template     string `json:"value_template,omitempty"`
	Unit         string `json:"unit_of_measurement,omitempty"`
	StateClass   string `json:"state_class,omitempty"`
	ExpireAfter  int    `json:"expire_after,omitempty"`
	CommandTopic string `json:"command_topic,omitempty"`
	PayloadPress string `json:"payload_press,omitempty"`
	Retain       *bool  `json:"retain,omitempty"`
	QoS          int    `json:"qos,omitempty"`
	Icon         string `json:"icon,omitempty"`
}

type haDiscovery struct {
	Device       haDevice               `json:"device"`
	Origin       haOrigin               `json:"origin"`
	Availability []haAvailability       `json:"availability"`
	Components   map[string]haComponent `json:"components"`
}

// discoveryID is the device's name for Home Assistant: letters, digits, _ and - only.
func (r *Remote) discoveryID() string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' {
			return c
		}
		return '_'
	}, r.o.Topics.Tree())
}

// discovery is the retained message that makes the instrument a device there.
func (r *Remote) discovery() Message {
	s, id, t := r.panel.Status(), r.discoveryID(), r.o.Topics
	d := haDiscovery{
		Device: haDevice{Identifiers: []string{id}, Name: s.Name, Manufacturer: "tuner", Model: "instrument control loop", Version: r.o.Version},
		Origin: haOrigin{Name: "tuner", Version: r.o.Version},
		// Anything but online is not: offline was said by the tuner, lost by the broker.
		Availability: []haAvailability{{Topic: t.Status(), Template: "{{ 'online' if value_json.state == 'online' else 'offline' }}"}},
		Components:   map[string]haComponent{},
	}
	add := func(key string, c haComponent) {
		c.UniqueID = id + "_" + key
		d.Components[c.UniqueID] = c
	}
	state := func(key, name, template, unit string) {
		add(key, haComponent{Platform: "sensor", Name: name, StateTopic: t.State(), Template: template, Unit: unit})
	}
	state("state", "state", "{{ value_json.state }}", "")
	state("step", "steps", "{{ value_json.steps }}", "")
	state("spent", "spent", "{{ value_json.spent }}", s.CostUnit)
	state("objective", "objective of the last step", "{{ value_json.outcome.mean if value_json.outcome else none }}", s.Objective.Unit)
	state("bound", "best, pessimistic", "{{ value_json.recommended.bound if value_json.recommended else none }}", s.Objective.Unit)
	expire := int(expireFactor * r.o.Heartbeat.Seconds())
	value := func(key, name, template, unit string) {
		add(key, haComponent{Platform: "sensor", Name: name, StateTopic: t.Telemetry(), Template: template, Unit: unit,
			StateClass: "measurement", ExpireAfter: expire})
	}
	for i, v := range s.Sensors {
		value(fmt.Sprintf("sensor_%d", i), v.Name, fmt.Sprintf("{{ value_json.sensors[%d].value }}", i), v.Unit)
	}
	for i, v := range s.Variables {
		value(fmt.Sprintf("variable_%d", i), v.Name, fmt.Sprintf("{{ value_json.variables[%d].readback }}", i), v.Unit)
	}
	if r.o.Commands {
		retain := false
		add("stop", haComponent{Platform: "button", Name: "safe stop", CommandTopic: t.Command("stop"), PayloadPress: "stop",
			Retain: &retain, QoS: 1, Icon: "mdi:stop-circle"})
	}
	return Message{Topic: r.o.Discovery + "/device/" + id + "/config", Payload: encode(d), Retained: true, QoS: 1}
}
