package mqtt

import (
	"time"

	"github.com/labtuner/tuner/drivers"
)

// ChannelOptions are the keys of a [device.channel.X] of an mqtt device.
type ChannelOptions struct {
	// Channel is X: the name that tuner uses.
	Channel string `toml:"-"`

	Read    *ReadTopic    `toml:"read" doc:"where readings come; only a channel of doses may have none"`
	Write   *WriteTopic   `toml:"write" doc:"where setpoints go; absent: the channel is read-only"`
	Release *ReleaseTopic `toml:"release" doc:"where releases go; absent: the channel cannot be released"`
	Confirm *ConfirmTopic `toml:"confirm" doc:"where the device says which setpoint or release it took last; absent: nothing is waited for"`

	Dose bool `toml:"dose" doc:"a write adds an amount, once, and a halt stops it by release; needs confirm"`

	Unit string `toml:"unit" doc:"the channel's unit; it must be that of the variable or sensor that uses it; absent: not checked"`
	drivers.ScaleKeys
}

// ReadTopic says where a channel's readings come.
type ReadTopic struct {
	Topic    string `toml:"topic" required:"true" doc:"MQTT topic, without wildcards"`
	Path     string `toml:"path" doc:"where in the JSON message the number stands, as in tank.probes[0].ph; absent: the message is the number"`
	UnitPath string `toml:"unit_path" doc:"where in the JSON message the unit stands; one that is not the channel's is no data; absent: not looked at"`

	Off            *OffRule `toml:"off" doc:"where the message says that the device is off: the value is then 0, whatever stands at path; absent: path alone counts"`
	Poll           *Poll    `toml:"poll" doc:"the message that asks the device for its reading, of one that does not say it often enough by itself; absent: nothing is asked"`
	TimePath       string   `toml:"time_path" doc:"where in the JSON message the device's own time stands, ISO 8601 with a zone, or seconds or milliseconds since 1970; absent: a value counts from its arrival"`
	AcceptRetained bool     `toml:"accept_retained" doc:"a value that the broker has kept counts too, once, as of the time at time_path, which it needs"`
}

// OffRule says how a message tells that a device is off.
type OffRule struct {
	Path string `toml:"path" required:"true" doc:"path to the state within the JSON message"`
	Is   string `toml:"is" required:"true" doc:"what stands there while the device is off, such as OFF or false"`
}

// Poll is a message that asks for a reading.
type Poll struct {
	Topic   string        `toml:"topic" required:"true" doc:"MQTT topic, without wildcards"`
	Payload string        `toml:"payload" doc:"the message that asks for a value; absent: an empty one"`
	Every   time.Duration `toml:"every" bound:">= 100ms, <= 1h" doc:"time from one question to the next; absent: 5s"`
}

// WriteTopic says where a channel's setpoints go.
type WriteTopic struct {
	Topic  string        `toml:"topic" required:"true" doc:"MQTT topic, without wildcards"`
	TTL    time.Duration `toml:"ttl" bound:">= 1ms" doc:"how long a setpoint may wait at its receiver; absent: 10s"`
	Lasts  bool          `toml:"lasts" doc:"the receiver keeps a setpoint only for its for_ms, the variable's lease, and then goes to its own safe state; needs format json"`
	Format string        `toml:"format" enum:"json,number" doc:"what a setpoint looks like: with seq, ttl_ms and session, or only the number; absent: json"`

	Template string `toml:"template" doc:"what a setpoint looks like in the device's own form, with one place for the number: %d whole, %.2f with two decimal places, %f with as many as it has; absent: format"`
	Off      string `toml:"off" doc:"the whole message in place of template for the value 0; absent: template"`
}

// ReleaseTopic says where a channel's releases go.
type ReleaseTopic struct {
	Topic   string `toml:"topic" required:"true" doc:"MQTT topic, without wildcards"`
	Payload string `toml:"payload" doc:"the message that lets go of the channel, where write.format is number or write.template is given"`
}

// ConfirmTopic says where a device confirms what it took.
type ConfirmTopic struct {
	Topic   string        `toml:"topic" required:"true" doc:"MQTT topic, without wildcards"`
	Timeout time.Duration `toml:"timeout" bound:"> 0s, <= 1h" doc:"longest wait for the confirmation before the write counts as failed; absent: 2s"`
}

// The words of WriteTopic.Format.
const (
	formatJSON   = "json"
	formatNumber = "number"
)

const (
	// defaultTTL is WriteTopic.TTL where the file has none: three leases of the
	// usual 3 s, short compared with any outage that an operator would notice.
	defaultTTL = 10 * time.Second
	// defaultConfirm is ConfirmTopic.Timeout where the file has none.
	defaultConfirm = 2 * time.Second
	// defaultPoll is Poll.Every where the file has none: often enough for a max_age of some
	// ten seconds, seldom enough for a Zigbee network.
	defaultPoll = 5 * time.Second
)
