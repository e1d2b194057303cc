package mqtt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

const (
	// usualBroker is where a broker is looked for that nobody named.
	usualBroker = "tcp://127.0.0.1:1883"
	// listenTime is how long is listened: what the broker has kept comes at once, a sensor of a
	// bench within seconds.
	listenTime = 5 * time.Second
	// mostFound bounds the channels that are found by listening alone.
	mostFound = 40
	// bridgeDevices is where Zigbee2MQTT describes its devices, retained; see
	// https://www.zigbee2mqtt.io/guide/usage/mqtt_topics_and_messages.html and .../exposes.html.
	bridgeDevices = "zigbee2mqtt/bridge/devices"
)

// discover listens at a broker: to the devices that Zigbee2MQTT describes, and to every other
// topic that says a number. It publishes nothing.
func discover(ctx context.Context, at string, env drivers.Env) ([]drivers.Discovered, error) {
	o := Default()
	o.Broker = cmp.Or(at, usualBroker)
	if err := o.validate(); err != nil {
		return nil, err
	}
	if env.Log == nil {
		env.Log = slog.New(slog.DiscardHandler)
	}
	o = o.filled()
	var mu sync.Mutex
	heard := map[string]link.Arrived{}
	l := link.New(link.Spec{Options: o.Options, Env: env, Name: o.ClientName, Topics: []string{"#"}, Largest: link.MaxPacket, Handle: func(m link.Arrived) {
		mu.Lock()
		defer mu.Unlock()
		if _, known := heard[m.Topic]; known || len(heard) < link.QueueLength {
			heard[m.Topic] = m
		}
	}})
	defer l.Close()
	if err := l.Start(ctx); err != nil {
		if at == "" && errors.Is(err, drivers.ErrUnavailable) {
			return nil, nil // there is no broker, and nobody said that there is
		}
		return nil, fmt.Errorf("mqtt %q: %w", o.Broker, err)
	}
	if !link.Sleep(ctx, listenTime) {
		return nil, ctx.Err()
	}
	mu.Lock()
	defer mu.Unlock()
	return found(o.Broker, heard), nil
}

// found are the instruments in what was heard.
func found(broker string, heard map[string]link.Arrived) []drivers.Discovered {
	all := bridged(broker, heard[bridgeDevices].Payload)
	rest := drivers.Discovered{Name: "broker", Says: "topics at " + broker + " that say numbers", Keys: []string{fmt.Sprintf("broker = %q", broker)}}
	for _, topic := range slices.Sorted(keysOf(heard)) {
		if strings.HasPrefix(topic, "zigbee2mqtt/") || strings.HasPrefix(topic, "tuner/") || strings.HasPrefix(topic, ownerPrefix) || strings.HasPrefix(topic, "$") {
			continue
		}
		m := heard[topic]
		root, err := parsePayload(m.Payload)
		if err != nil {
			root = string(m.Payload)
		}
		for _, p := range numbersIn(root, nil) {
			if len(rest.Channels) == mostFound {
				break
			}
			rest.Channels = append(rest.Channels, numberChannel(topic, p))
		}
	}
	if len(rest.Channels) > 0 {
		all = append(all, rest)
	}
	return all
}

// keysOf iterates over the topics.
func keysOf(heard map[string]link.Arrived) func(func(string) bool) {
	return func(yield func(string) bool) {
		for topic := range heard {
			if !yield(topic) {
				return
			}
		}
	}
}

// numbersIn are the paths of numbers in a JSON value; the empty path is the value itself.
func numbersIn(v any, at path) (all []path) {
	switch t := v.(type) {
	case float64:
		return []path{at}
	case string:
		if _, err := wire.Number(t); err == nil && len(at) == 0 {
			return []path{at}
		}
	case map[string]any:
		var names []string
		for name := range t {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if !strings.ContainsAny(name, ".[]\"'") && name != "" {
				all = append(all, numbersIn(t[name], append(slices.Clone(at), step{key: name}))...)
			}
		}
	}
	return all
}

// numberChannel is a channel that reads a number.
func numberChannel(topic string, p path) drivers.DiscoveredChannel {
	nan := math.NaN()
	name := plainName(strings.Trim(topic+"_"+p.String(), "_"))
	read := fmt.Sprintf("read = { topic = %s }", strconv.Quote(topic))
	if len(p) > 0 {
		read = fmt.Sprintf("read = { topic = %s, path = %s }", strconv.Quote(topic), strconv.Quote(p.String()))
	}
	return drivers.DiscoveredChannel{Channel: drivers.Channel{Name: name, Min: nan, Max: nan, Safe: nan}, Section: []string{read}}
}

// plainName makes a name that a file takes of a topic.
func plainName(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
			return r
		}
		return '_'
	}, text)
}

// bridged are the devices that Zigbee2MQTT describes, with what the preset knows of them.
func bridged(broker string, payload []byte) (all []drivers.Discovered) {
	root, err := wire.Value(payload)
	list, ok := root.([]any)
	if err != nil || !ok {
		return nil
	}
	for _, element := range list {
		device, _ := element.(map[string]any)
		id, _ := device["friendly_name"].(string)
		definition, _ := device["definition"].(map[string]any)
		p, err := presetOf("zigbee2mqtt", id)
		if definition == nil || err != nil {
			continue
		}
		says, _ := definition["description"].(string)
		d := drivers.Discovered{Name: plainName(id), Says: "Zigbee2MQTT: " + drivers.Printable(says),
			Keys: []string{fmt.Sprintf("broker = %q", broker), `preset = "zigbee2mqtt"`, "id = " + strconv.Quote(id)}}
		exposes, _ := definition["exposes"].([]any)
		d.Channels = exposed(p, exposes)
		if len(d.Channels) > 0 {
			all = append(all, d)
		}
	}
	return all
}

// exposed are the numbers among what a device exposes, also within its lights and the like.
func exposed(p *preset, exposes []any) (all []drivers.DiscoveredChannel) {
	for _, element := range exposes {
		e, _ := element.(map[string]any)
		if features, ok := e["features"].([]any); ok {
			all = append(all, exposed(p, features)...)
		}
		name, _ := e["property"].(string)
		if e["type"] != "numeric" || name == "" {
			continue
		}
		o, there := p.channel(name)
		c, err := parseChannel(o)
		if !there || err != nil {
			continue
		}
		unit, _ := e["unit"].(string)
		d := drivers.DiscoveredChannel{Channel: c.Channel, Known: c.Access == drivers.ReadWrite}
		d.Unit = cmp.Or(d.Unit, unit)
		if low, ok := e["value_min"].(float64); ok && c.Access == drivers.ReadOnly {
			d.Min = low
		}
		if high, ok := e["value_max"].(float64); ok && c.Access == drivers.ReadOnly {
			d.Max = high
		}
		all = append(all, d)
	}
	return all
}
