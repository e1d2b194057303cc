package remote

import (
	"context"
	"slices"
	"strings"

	"github.com/labtuner/tuner/loop/control"
)

// Topics are the names of one instrument at a broker.
type Topics struct{ tree string }

// NewTopics returns the topics of an instrument. What MQTT gives a meaning in a topic
// (slash, + and #) is an underscore there.
func NewTopics(site, name string) Topics {
	clean := strings.NewReplacer("/", "_", "+", "_", "#", "_", "\x00", "_")
	return Topics{tree: "tuner/" + clean.Replace(site) + "/" + clean.Replace(name)}
}

// Tree is what all of them begin with.
func (t Topics) Tree() string { return t.tree }

// Status (retained) says whether the tuner is there, State (retained) the run's state.
func (t Topics) Status() string { return t.tree + "/status" }

// State is retained: a loop.Status.
func (t Topics) State() string { return t.tree + "/state" }

// Telemetry is not retained: values, every second.
func (t Topics) Telemetry() string { return t.tree + "/telemetry" }

// Event is not retained: the run's story and its concluded steps.
func (t Topics) Event() string { return t.tree + "/event" }

// Command is where a command goes, Response where its answer comes.
func (t Topics) Command(name string) string { return t.tree + "/cmd/" + name }

// Response is where the answer to a command comes.
func (t Topics) Response(name string) string { return t.tree + "/resp/" + name }

// Commands is the filter of all commands.
func (t Topics) Commands() string { return t.tree + "/cmd/+" }

// commandOf is the command that a topic is for; ok is false where it is for none.
func (t Topics) commandOf(topic string) (name string, ok bool) {
	name, ok = strings.CutPrefix(topic, t.tree+"/cmd/")
	return name, ok && slices.Contains(control.Commands(), name)
}

// Message is a message as it came, or as it is to go.
type Message struct {
	Topic    string
	Payload  []byte
	Retained bool
	// QoS is MQTT's quality of service: 0 at most once, 1 at least once.
	QoS byte
}

// Link is a connection to a broker that makes itself anew. cmd/tuner gives one of
// drivers/mqtt.
type Link interface {
	// Publish sends m and waits until it has left or, with QoS 1, the broker has it. It
	// fails at once where there is no connection.
	Publish(ctx context.Context, m Message) error
	// Connected says that there is a connection.
	Connected() bool
}
