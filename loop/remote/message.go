package remote

import "context"

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
