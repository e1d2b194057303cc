package mqtt

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// scripted is a device that speaks as its vendor documents: what it says when it starts
// (retained where marked), and what it answers to a message.
type scripted struct {
	*other
	mu     sync.Mutex
	level  int
	on     bool
	away   bool // it answers nothing any more
	answer func(d *scripted, topic, payload string) []said
}

// said is a message of a device.
type said struct {
	topic, payload string
	retained       bool
}

// play has a device answer until the test's end.
func play(t *testing.T, url string, listens string, answer func(d *scripted, topic, payload string) []said) *scripted {
	t.Helper()
	d := &scripted{other: newOther(t, url, listens), answer: answer}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for done := 0; ; {
			for _, m := range d.all()[done:] {
				done++
				topic, payload, _ := strings.Cut(m, " ")
				d.respond(topic, payload)
			}
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
			}
		}
	}()
	t.Cleanup(func() { close(stop); <-stopped })
	return d
}

// respond says what the device answers to a message.
func (d *scripted) respond(topic, payload string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.away {
		return
	}
	for _, a := range d.answer(d, topic, payload) {
		d.client.Publish(a.topic, 0, a.retained, a.payload).Wait()
	}
}

// leave has the device fall silent; then its absence is said. A device that spoke after it would
// be there again.
func (d *scripted) leave(gone said) {
	d.mu.Lock()
	d.away = true
	d.mu.Unlock()
	d.say(gone.topic, gone.payload, true)
}

// set keeps what a message sets, by the numbers and words in it.
func (d *scripted) set(payload string, number, off *regexp.Regexp) bool {
	if off != nil && off.MatchString(payload) {
		d.on = false
		return true
	}
	m := number.FindStringSubmatch(payload)
	if m == nil {
		return false
	}
	fmt.Sscan(m[1], &d.level)
	d.on = d.level > 0
	return true
}

func word(on bool) string {
	if on {
		return "ON"
	}
	return "OFF"
}

var (
	brightnessNumber = regexp.MustCompile(`"brightness": ?(\d+)`)
	bareNumber       = regexp.MustCompile(`^(\d+)$`)
	stateOff         = regexp.MustCompile(`"state": ?"OFF"`)
)

// makes are the presets' devices. What each says and answers is in the vendor's page that the
// preset's file names.
var makes = map[string]struct {
	id, channel, listens string
	greets               []said // at its start
	answer               func(d *scripted, topic, payload string) []said
	sends, sendsOff      string // for 40, for 0
	gone                 said   // when it is away
}{
	"zigbee2mqtt": {
		id: "desk/lamp", channel: "brightness", listens: "zigbee2mqtt/desk/lamp/#",
		greets: []said{{"zigbee2mqtt/bridge/state", `{"state":"online"}`, true}, {"zigbee2mqtt/desk/lamp/availability", `{"state":"online"}`, true}},
		answer: func(d *scripted, topic, payload string) []said {
			switch {
			case topic == "zigbee2mqtt/desk/lamp/set" && d.set(payload, brightnessNumber, stateOff), topic == "zigbee2mqtt/desk/lamp/get" && payload == `{"state":"","brightness":""}`:
				return []said{{"zigbee2mqtt/desk/lamp", fmt.Sprintf(`{"brightness":%d,"color_temp":325,"linkquality":120,"state":"%s"}`, d.level, word(d.on)), false}}
			}
			return nil
		},
		sends: `zigbee2mqtt/desk/lamp/set {"state":"ON","brightness":40}`, sendsOff: `zigbee2mqtt/desk/lamp/set {"state":"OFF"}`,
		gone: said{"zigbee2mqtt/desk/lamp/availability", `{"state":"offline"}`, true},
	},
	"tasmota": {
		id: "desk", channel: "dimmer", listens: "cmnd/desk/#",
		greets: []said{{"tele/desk/LWT", "Online", true}},
		answer: func(d *scripted, topic, payload string) []said {
			switch {
			case topic == "cmnd/desk/Dimmer" && d.set(payload, bareNumber, nil):
				return []said{{"stat/desk/RESULT", fmt.Sprintf(`{"POWER":"%s","Dimmer":%d,"Color":"1A0B048E"}`, word(d.on), d.level), false}}
			case topic == "cmnd/desk/State" && payload == "":
				return []said{{"stat/desk/RESULT", fmt.Sprintf(`{"Time":"2026-03-01T12:00:00","Uptime":"0T00:00:11","POWER":"%s","Dimmer":%d,"Fade":"OFF"}`, word(d.on), d.level), false}}
			}
			return nil
		},
		sends: "cmnd/desk/Dimmer 40", sendsOff: "cmnd/desk/Dimmer 0",
		gone: said{"tele/desk/LWT", "Offline", true},
	},
	"shelly-gen1": {
		id: "shellydimmer-D3E4F5", channel: "brightness", listens: "shellies/shellydimmer-D3E4F5/#",
		greets: []said{{"shellies/shellydimmer-D3E4F5/online", "true", true}},
		answer: func(d *scripted, topic, payload string) []said {
			switch {
			case topic == "shellies/shellydimmer-D3E4F5/light/0/set" && d.set(payload, brightnessNumber, regexp.MustCompile(`"turn":"off"`)),
				topic == "shellies/shellydimmer-D3E4F5/command" && payload == "update":
				return []said{{"shellies/shellydimmer-D3E4F5/light/0/status", fmt.Sprintf(`{"ison":%v,"source":"mqtt","has_timer":false,"mode":"white","brightness":%d}`, d.on, d.level), true}}
			}
			return nil
		},
		sends: `shellies/shellydimmer-D3E4F5/light/0/set {"turn":"on","brightness":40}`, sendsOff: `shellies/shellydimmer-D3E4F5/light/0/set {"turn":"off"}`,
		gone: said{"shellies/shellydimmer-D3E4F5/online", "false", true},
	},
	"shelly": {
		id: "shellyplus010v-AABBCC", channel: "brightness", listens: "shellyplus010v-AABBCC/rpc",
		greets: []said{{"shellyplus010v-AABBCC/online", "true", true}},
		answer: func(d *scripted, topic, payload string) []said {
			source := regexp.MustCompile(`"src":"([^"]*)"`).FindStringSubmatch(payload)
			switch {
			case strings.Contains(payload, `"method":"Light.Set"`) && strings.Contains(payload, `"params":{"id":0,`) && d.set(payload, brightnessNumber, regexp.MustCompile(`"on":false`)):
				return []said{{source[1] + "/rpc", fmt.Sprintf(`{"id":2,"src":"shellyplus010v-AABBCC","dst":"%s","result":null}`, source[1]), false}}
			case strings.Contains(payload, `"method":"Light.GetStatus","params":{"id":0}`):
				return []said{{source[1] + "/rpc", fmt.Sprintf(`{"id":1,"src":"shellyplus010v-AABBCC","dst":"%s","result":{"id":0,"source":"mqtt","output":%v,"brightness":%d.0}}`, source[1], d.on, d.level), false}}
			}
			return nil
		},
		sends:    `shellyplus010v-AABBCC/rpc {"id":2,"src":"tuner-set/shellyplus010v-AABBCC","method":"Light.Set","params":{"id":0,"on":true,"brightness":40}}`,
		sendsOff: `shellyplus010v-AABBCC/rpc {"id":2,"src":"tuner-set/shellyplus010v-AABBCC","method":"Light.Set","params":{"id":0,"on":false}}`,
		gone:     said{"shellyplus010v-AABBCC/online", "false", true},
	},
	"esphome-number": {
		id: "oven", channel: "heater_level", listens: "oven/#",
		greets: []said{{"oven/status", "online", true}},
		answer: func(d *scripted, topic, payload string) []said {
			if topic == "oven/number/heater_level/command" && d.set(payload, bareNumber, nil) {
				return []said{{"oven/number/heater_level/state", fmt.Sprint(d.level), true}}
			}
			return nil
		},
		sends: "oven/number/heater_level/command 40", sendsOff: "oven/number/heater_level/command 0",
		gone: said{"oven/status", "offline", true},
	},
	"esphome-light": {
		id: "node", channel: "desk", listens: "node/#",
		greets: []said{{"node/status", "online", true}},
		answer: func(d *scripted, topic, payload string) []said {
			if topic == "node/light/desk/command" && d.set(payload, brightnessNumber, stateOff) {
				return []said{{"node/light/desk/state", fmt.Sprintf(`{"color_mode":"brightness","state":"%s","brightness":%d,"color":{}}`, word(d.on), d.level), true}}
			}
			return nil
		},
		sends: `node/light/desk/command {"state":"ON","brightness":40}`, sendsOff: `node/light/desk/command {"state":"OFF"}`,
		gone: said{"node/status", "offline", true},
	},
	"homeassistant-light": {
		id: "office/rgb1", channel: "brightness", listens: "office/#",
		answer: func(d *scripted, topic, payload string) []said {
			if topic == "office/rgb1/set" && d.set(payload, brightnessNumber, stateOff) {
				return []said{{"office/rgb1", fmt.Sprintf(`{"brightness":%d,"color_mode":"brightness","state":"%s"}`, d.level, word(d.on)), true}}
			}
			return nil
		},
		sends: `office/rgb1/set {"state":"ON","brightness":40}`, sendsOff: `office/rgb1/set {"state":"OFF"}`,
	},
}

// fromPreset is a device of a preset with one channel.
func fromPreset(t *testing.T, url, name, id string, channels ...string) *Device {
	t.Helper()
	p, err := presetOf(name, id)
	if err != nil {
		t.Fatal(err)
	}
	o := p.options
	o.Broker = url
	var all []ChannelOptions
	for _, name := range channels {
		c, there := p.channel(name)
		if !there {
			t.Fatalf("the preset has no channel %q; it has %s", name, p.names())
		}
		if c.Write != nil {
			safe := 0.0
			c.Safe = &safe
		}
		all = append(all, c)
	}
	d, _ := newDevice(t, o, all...)
	return d
}

// Each make is set, read back, switched off by someone else, halted, and found away: against the
// broker that is installed, with messages as the vendors document them.
func TestPresets(t *testing.T) {
	t.Parallel()
	b := broker.Start(t)
	for name, c := range makes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			device := play(t, b.URL, c.listens, c.answer)
			for _, m := range c.greets {
				device.say(m.topic, m.payload, m.retained)
			}
			d := fromPreset(t, b.URL, name, c.id, c.channel)
			if _, err := d.Open(context.Background()); err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			reads := func(want float64) {
				t.Helper()
				eventually(t, fmt.Sprintf("%s reads %g", c.channel, want), func() bool {
					r, err := d.Read(context.Background(), []string{c.channel})
					if err != nil {
						t.Fatal(err)
					}
					v, there := r.Values[c.channel]
					d.poke()
					return there && v == want
				})
			}
			write := func(v float64) {
				t.Helper()
				if _, err := d.Write(context.Background(), drivers.Setpoints{Values: map[string]float64{c.channel: v}}); err != nil {
					t.Fatal(err)
				}
			}
			write(40)
			eventually(t, "the device hears "+c.sends, func() bool { return device.mentions(c.sends) })
			reads(40)
			write(0)
			eventually(t, "the device hears "+c.sendsOff, func() bool { return device.mentions(c.sendsOff) })
			reads(0)
			write(55)
			reads(55)
			if err := d.Halt(context.Background()); err != nil {
				t.Error(err)
			}
			reads(0)
			if c.gone.topic == "" {
				return
			}
			device.leave(c.gone)
			eventually(t, "its absence is noticed", func() bool {
				_, err := d.Read(context.Background(), []string{c.channel})
				return err != nil && strings.Contains(err.Error(), "the device's status on")
			})
		})
	}
}

// Every preset that sets anything is played above, and the others only read.
func TestPresetsAreAllPlayed(t *testing.T) {
	for _, name := range presetNames() {
		p, err := presetOf(name, "x")
		if err != nil {
			t.Error(err)
			continue
		}
		text, _ := presetFiles.ReadFile("presets/" + name + ".toml")
		if !strings.Contains(string(text), "# Source: https://") {
			t.Errorf("%s names no source", name)
		}
		for _, c := range p.channels {
			one, _ := p.channel(strings.ReplaceAll(c.Channel, "*", "thing"))
			if _, err := parseChannels([]ChannelOptions{one}); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if _, played := makes[name]; one.Write != nil && !played {
				t.Errorf("%s sets %q, and no device of it is played", name, c.Channel)
			}
		}
	}
	for want, c := range map[string][2]string{`there is no preset "hue"`: {"hue", "x"}, `id is ""`: {"tasmota", ""}, `id is "a+b"`: {"tasmota", "a+b"},
		"there is no preset whose topics": {"", "x"}, `id is "{x}"`: {"tasmota", "{x}"}, `'`: {"tasmota", "a'b"}} {
		if _, err := presetOf(c[0], c[1]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// The sensors' messages of the vendors' pages are read.
func TestPresetSensors(t *testing.T) {
	for _, c := range []struct {
		preset, id, channel, topic, payload string
		want                                float64
	}{
		{"zigbee2mqtt", "meter", "temperature", "zigbee2mqtt/meter", `{"temperature":27.34,"humidity":44.72}`, 27.34},
		{"tasmota", "meter", "DS18B20.Temperature", "stat/meter/STATUS8", `{"StatusSNS":{"Time":"2017-02-16T10:13:52","DS18B20":{"Temperature":20.6},"TempUnit":"C"}}`, 20.6},
		{"shelly-gen1", "shellyplug-1", "relay/0/power", "shellies/shellyplug-1/relay/0/power", "12.40", 12.4},
		{"shelly", "plug", "switch:0.apower", "tuner-read/plug/rpc", `{"id":3,"src":"plug","dst":"tuner-read/plug","result":{"switch:0":{"id":0,"output":true,"apower":8.9,"voltage":237.5}}}`, 8.9},
		{"esphome", "livingroom", "outside_temperature", "livingroom/sensor/outside_temperature/state", "21.5", 21.5},
		{"homeassistant", "homeassistant", "sensor/desk_illuminance", "homeassistant/sensor/desk_illuminance/state", `"318.5"`, 318.5},
	} {
		p, err := presetOf(c.preset, c.id)
		if err != nil {
			t.Fatal(err)
		}
		o, there := p.channel(c.channel)
		if !there {
			t.Errorf("%s has no %s", c.preset, c.channel)
			continue
		}
		d, _ := idle(t, o)
		got := hears(t, d, link.Arrived{Topic: c.topic, Payload: []byte(c.payload), At: time.Unix(1000, 0)})
		if len(got) != 1 || got[0].Values[c.channel] != c.want {
			t.Errorf("%s: %s gives %+v (%v), want %g", c.preset, c.payload, got, d.refused, c.want)
		}
	}
}
