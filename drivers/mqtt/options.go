package mqtt

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// Connection are the keys that say where a broker is and who logs in there.
type Connection = link.Keys

// Message is a message as it came, or as it is to go.
type Message = link.Message

// BrokerWait is how long a write waits for the broker's word that it has come that far.
// Not longer: the link may have died without a sign, and the safe value with it. Not shorter:
// a mobile link takes a second.
const BrokerWait = 2 * time.Second

// Options are the keys of a [[device]] with driver = "mqtt".
type Options struct {
	link.Options
	HaltTimeout time.Duration `toml:"halt_timeout" bound:"> 0s, <= 1h" doc:"longest wait for the read topics to confirm the safe values"`

	Status *StatusTopic `toml:"status" doc:"where the device says whether it is there; absent: it is believed to be"`

	Availability []StatusTopic `toml:"availability" doc:"further topics like status, such as that of a bridge: the device is there where all of them say so"`

	Preset string `toml:"preset" doc:"ready topics and messages of a make of devices, which the file's keys are laid over; absent: none"`
	ID     string `toml:"id" doc:"the device's name in the topics of the preset"`

	// Claims are the topics of setpoints that a device with an owner (drivers.Env) is alone in
	// setting.
	Claims []string `toml:"-"`
}

// StatusTopic says where a device says whether it is there, as many do by a
// retained message and a last will.
type StatusTopic struct {
	Topic   string `toml:"topic" required:"true" doc:"MQTT topic, without wildcards"`
	Online  string `toml:"online" doc:"the message that says it is there; absent: online"`
	Offline string `toml:"offline" doc:"the message that tuner plant says it is not there with; absent: offline"`

	Path     string `toml:"path" doc:"where in a JSON message the word stands; absent: the message is the word"`
	Optional bool   `toml:"optional" doc:"a device that has never said anything there counts as there"`
}

// Default returns the options that a file need not write.
func Default() Options {
	return Options{Options: link.Default(), HaltTimeout: 10 * time.Second}
}

// filled returns the options with the world's own in place of what is nil.
func (o Options) filled() Options {
	if o.Status != nil {
		s := *o.Status
		s.Online, s.Offline = cmp.Or(s.Online, "online"), cmp.Or(s.Offline, "offline")
		o.Status = &s
	}
	o.Availability = slices.Clone(o.Availability)
	for i := range o.Availability {
		s := &o.Availability[i]
		s.Online, s.Offline = cmp.Or(s.Online, "online"), cmp.Or(s.Offline, "offline")
	}
	o.Options = o.Options.Filled()
	return o
}

// validate checks what no tag says, and gives every problem at once.
func (o Options) validate() error {
	problems := []error{o.Options.Validate()}
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	filled := o.filled()
	for _, s := range filled.statuses() {
		if err := checkTopic("status", s.Topic); err != nil {
			problems = append(problems, err)
		}
		if _, err := parsePath(s.Path); err != nil {
			problems = append(problems, fmt.Errorf("status: %w", err))
		}
		if s.Online == s.Offline {
			bad("status: online and offline are both %q; they must differ", s.Online)
		}
	}
	return errors.Join(problems...)
}
