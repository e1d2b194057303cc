package mqtt

import (
	"slices"
	"testing"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// bridge is what Zigbee2MQTT keeps of its devices, of the form of its page on topics and exposes.
const bridge = `[
{"ieee_address":"0x1","type":"Coordinator","friendly_name":"Coordinator","definition":null},
{"ieee_address":"0x2","type":"Router","friendly_name":"desk_lamp","definition":{"model":"LED1624G9","description":"bulb, \u001b[31m dimmable","exposes":[
 {"type":"light","features":[{"type":"binary","name":"state","property":"state"},{"type":"numeric","name":"brightness","property":"brightness","value_min":0,"value_max":254}]},
 {"type":"numeric","name":"linkquality","property":"linkquality","unit":"lqi","value_min":0,"value_max":255}]}},
{"ieee_address":"0x3","type":"EndDevice","friendly_name":"meter","definition":{"model":"X","description":"light meter","exposes":[{"type":"numeric","property":"illuminance","unit":"lx"}]}}]`

// What a broker has kept and what comes meanwhile is found, and nothing is published.
func TestDiscover(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	speaker := newOther(t, b.URL, "#")
	speaker.say(bridgeDevices, bridge, true)
	speaker.say("lab/t", "21.5", true)
	speaker.say("lab/tank", `{"probes":[1],"ph":6.9,"deep":{"ec":1.2},"name":"x"}`, true)
	eventually(t, "the broker has it all", func() bool { return speaker.mentions("lab/tank") })
	before := len(speaker.all())
	env, _ := environment()
	all, err := discover(t.Context(), b.URL, env)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range all {
		for _, c := range d.Channels {
			names = append(names, d.Name+"."+c.Name)
		}
	}
	if want := []string{"desk_lamp.brightness", "desk_lamp.linkquality", "meter.illuminance", "broker.lab_t", "broker.lab_tank_deep_ec", "broker.lab_tank_ph"}; !slices.Equal(names, want) {
		t.Fatalf("%q, want %q", names, want)
	}
	lamp := all[0].Channels[0]
	if lamp.Access != drivers.ReadWrite || lamp.Max != 254 || lamp.Resolution != 1 || !lamp.Known || all[1].Channels[0].Unit != "lx" {
		t.Errorf("%+v %+v", lamp, all[1].Channels[0])
	}
	if n := len(speaker.all()); n != before {
		t.Errorf("something was published: %q", speaker.all()[before:])
	}
	if _, err := discover(t.Context(), "tcp://127.0.0.1:1", env); err == nil {
		t.Error("a broker that was named and is not there is no error")
	}
}
