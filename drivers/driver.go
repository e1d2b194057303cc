package drivers

import (
	"context"
	"io"
	"time"
)

// Driver is a way of speaking to instruments that describes itself: what a configuration
// calls it, which keys its devices have, and what it makes of them. A program has a list of
// drivers, and nothing else that names one.
type Driver struct {
	// Name is what [[device]] driver says.
	Name string
	// Options and Channel give the keys of [[device]] and of [device.channel.NAME] with
	// their defaults: pointers to structs whose tags are as package configs reads them.
	// nil: it has none of its own.
	Options, Channel func() any
	// Introduces says that its instruments tell their channels themselves, so that a file
	// need not list them; IntroducedBy names a key that does so where it is given.
	Introduces   bool
	IntroducedBy string
	// Declares gives what is known of a channel without opening the device, by the raw keys of its
	// section, and says in words where from; false: nothing is. What only the device itself can say comes
	// with Device.Open. nil: nothing is known of any.
	Declares func(device map[string]any, channel string) (c Channel, source string, known bool)
	// Discover looks what answers at a place, such as a port, a broker or a command; "" stands for
	// the usual places, of which none is opened that opening could disturb. It reads and asks, and
	// moves nothing. nil: the driver cannot look.
	Discover func(ctx context.Context, at string, env Env) ([]Discovered, error)
	// Wire turns a device of a file into what can be made. It opens nothing, and tells
	// problems to the section.
	Wire func(s Section) Wired
}

// Section is a [[device]] of a configuration file, and what a driver may ask of the rest of
// the file and of the program.
type Section interface {
	// Name of the device; Folder is where relative paths of the file start.
	Name() string
	Folder() string
	// Decode lays the device's own keys over dst, a pointer to a struct that holds the
	// defaults. Where a key is wrong it says so to whoever reads the file.
	Decode(dst any)
	// Problem says that a key, "" for the device as a whole, is wrong, and what to do.
	Problem(key, what, hint string)
	// Channels are the [device.channel.NAME] sections in file order.
	Channels() []ChannelSection
	// Used says that a sensor or a variable of the file is on a channel; Safe is the safe
	// value of that variable, nil if there is none.
	Used(channel string) bool
	// Uses lists the channels of this device that sensors and variables are on, each once.
	Uses() []string
	Safe(channel string) *float64
	// Executable is the path of this very program.
	Executable() string
	// Secret reads a secret from where it is kept: a file, a credential of the service, or
	// an environment variable; "" where it is not.
	Secret(file, credential, variable string) (string, error)
	// Simulated makes the device of the file's simulated plant; nil: the file has none.
	Simulated() func(Env) (Device, error)
}

// ChannelSection is a [device.channel.NAME] of a file.
type ChannelSection interface {
	Name() string
	// Decode lays the channel's keys over dst; see Section.
	Decode(dst any)
}

// Wired is a device of a file, ready to be made.
type Wired struct {
	// Build makes the device; nothing is opened.
	Build func(Env) (Device, error)
	// Serve answers in the device's place with another device, until ctx ends; nil: it
	// cannot be served. Where says in words where that is, UsesStdin that it is on
	// standard input and output.
	Serve     func(ctx context.Context, s Serving) error
	Where     string
	UsesStdin bool
	// Port is the device file that it speaks through, Broker the HOST:PORT of a broker, Network
	// that of the instrument itself; "" for none.
	// Address is where a device without port and broker is, "" for none outside of this process.
	// Topics are those that setpoints of each channel go to, where there is a broker. Places
	// are what is set for each channel at Address, where that has many instruments which
	// different processes may drive, one each.
	Port, Broker, Network, Address string
	Topics, Places                 map[string]string
	// Identity tells what Address is from everything else, however files name it, where it may
	// be driven by one process of this computer only; "" for what needs no such care.
	Identity string
	// Channels are the names of its channels, where all are known and Source, which says in
	// words where they come from, is not "".
	Channels []string
	Source   string
	// OtherName maps channel names to those of the driver's other side, where they differ.
	OtherName map[string]string
	// Messages are those of a channel, exactly: what goes out for each of the values, and what is
	// expected; nil: they are not shown.
	Messages func(channel string, values []float64) []Message
	// Requests are the keys that bound one request to the device, where nothing overtakes
	// the one that is on the line; none: a safe value leaves at once. Beside is what an
	// exchange takes beside the longest of them.
	Requests []Request
	Beside   time.Duration
	// Writes are the longest waits for the answer to a write, by channel, where one channel is
	// told after the other; nil: one request tells them all. Exit is how long a child may take
	// to end, 0 where there is none.
	Writes map[string]time.Duration
	Exit   time.Duration
	// Late says in words which setpoints may still arrive late, where something between holds
	// them up that does not know how old they are; "" where nothing does.
	Late string
	// Round is how long the readings of all channels may take, one after the other, while a
	// write waits; 0: a write does not wait for them. RoundWords say what that comes from.
	Round      time.Duration
	RoundWords string
}

// Discovered is an instrument that answered, as a file would have it.
type Discovered struct {
	// Name is a name for the device; Says tells a person what it is.
	Name, Says string
	// Keys are the lines of its [[device]], without name and driver, in TOML.
	Keys []string
	// Channels are those that it offers, with what is known of each.
	Channels []DiscoveredChannel
}

// DiscoveredChannel is a channel of such an instrument.
type DiscoveredChannel struct {
	Channel
	// Section are the lines of its [device.channel.NAME] in TOML, empty where the device needs none.
	Section []string
	// Known says that a file need not repeat unit and limits: device or driver say them.
	Known bool
}

// Message is one message to or from a device, as it is on the wire.
type Message struct {
	// Says what it is for, such as "sends for 120 mg/L"; Where it goes or comes from, such as a topic.
	Says, Where string
	// Text are its bytes; capital words stand for what differs from one to the next.
	Text string
}

// Request is a key that bounds the time that one request takes: of a channel, or where
// Channel is "" of the device.
type Request struct {
	Most         time.Duration
	Channel, Key string
}

// Serving is what a device's driver is given to serve it.
type Serving struct {
	Device Device
	Env    Env
	// Period is the time between two readings of a device that speaks on its own.
	Period time.Duration
	Stdin  io.Reader
	Stdout io.Writer
}
