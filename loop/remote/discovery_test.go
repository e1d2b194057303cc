package remote

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// discovered decodes the message as a stranger would.
func discovered(t *testing.T, m Message) (doc map[string]any) {
	t.Helper()
	if err := json.Unmarshal(m.Payload, &doc); err != nil {
		t.Fatalf("%v: %s", err, m.Payload)
	}
	return doc
}

// TestDiscovery holds the message against what Home Assistant asks of a device's
// discovery: device with identifiers, origin with a name, components that each have a
// platform and an id of their own, sensors with a topic to read, one button, no knobs.
func TestDiscovery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStand(t, Options{Version: "v9", Discovery: "homeassistant"})
		time.Sleep(3 * time.Second)
		s.r.Connected()
		time.Sleep(time.Second)
		list := s.link.on("homeassistant/device/tuner_bench_oven/config")
		if len(list) == 0 {
			t.Fatal("nothing was published")
		}
		for i, m := range list { // the first one comes before the run has begun
			if doc := discovered(t, m); doc["device"].(map[string]any)["name"] != "oven" || len(doc["components"].(map[string]any)) < 8 {
				t.Errorf("message %d: %s", i, m.Payload)
			}
		}
		m := list[len(list)-1]
		if !m.Retained || m.QoS != 1 {
			t.Errorf("%+v", m)
		}
		doc := discovered(t, m)
		device, origin := doc["device"].(map[string]any), doc["origin"].(map[string]any)
		if ids := device["identifiers"].([]any); len(ids) != 1 || ids[0] != "tuner_bench_oven" || device["name"] != "oven" || origin["name"] != "tuner" {
			t.Errorf("device %v, origin %v", device, origin)
		}
		availability := doc["availability"].([]any)[0].(map[string]any)
		if availability["topic"] != testTopics.Status() || !strings.Contains(availability["value_template"].(string), "value_json.state == 'online'") {
			t.Errorf("availability %v", availability)
		}
		checkComponents(t, doc["components"].(map[string]any), map[string]any{
			testTopics.State():     state(t, s, testTopics.State()),
			testTopics.Telemetry(): state(t, s, testTopics.Telemetry()),
		})
		s.send("stop", nil)
		s.end()
	})
}

func state(t *testing.T, s *stand, topic string) map[string]any {
	v, _ := s.last(t, topic)
	return v
}

// path finds where a template looks: value_json.a[0].b.
var path = regexp.MustCompile(`value_json((?:\.[a-z_]+|\[\d+\])+)`)

// checkComponents looks at every component, and that what its template reads is there.
func checkComponents(t *testing.T, components, messages map[string]any) {
	t.Helper()
	buttons, sensors := 0, map[string]any{}
	for key, c := range components {
		c := c.(map[string]any)
		if c["unique_id"] != key || c["name"] == "" || !strings.HasPrefix(key, "tuner_bench_oven_") {
			t.Errorf("component %s: %v", key, c)
		}
		switch c["platform"] {
		case "button":
			buttons++
			if c["command_topic"] != testTopics.Command("stop") || c["retain"] != false || c["qos"] != 1.0 {
				t.Errorf("button %v", c)
			}
		case "sensor":
			sensors[c["name"].(string)] = c["unit_of_measurement"]
			if _, commands := c["command_topic"]; commands {
				t.Errorf("sensor %v has a command topic", c)
			}
			message := messages[c["state_topic"].(string)]
			for _, m := range path.FindAllStringSubmatch(c["value_template"].(string), -1) {
				if !reads(message, m[1]) {
					t.Errorf("%s: %q reads nothing in %s", key, m[1], c["state_topic"])
				}
			}
		default:
			t.Errorf("component %s is a %v: neither sensor nor the button", key, c["platform"])
		}
	}
	if buttons != 1 || sensors["x"] != "V" || sensors["t"] != "K" || len(sensors) != 8 {
		t.Errorf("%d buttons, sensors %v", buttons, sensors)
	}
}

// reads follows a template's path.
func reads(v any, where string) bool {
	for _, part := range regexp.MustCompile(`\.[a-z_]+|\[\d+\]`).FindAllString(where, -1) {
		if part[0] == '.' {
			object, ok := v.(map[string]any)
			if !ok {
				return false
			}
			if v, ok = object[part[1:]]; !ok {
				return false
			}
			continue
		}
		list, ok := v.([]any)
		i := int(part[1] - '0')
		if !ok || i >= len(list) {
			return false
		}
		v = list[i]
	}
	return v != nil
}
