package mqtt

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/labtuner/tuner/drivers"
)

// Client is a connection to a broker for what is no instrument, such as the tuner's own
// commands and status: messages as they are, with the same cures for the client library's
// traps as a Device. It looks for its broker in the background, for as long as it is open,
// and makes the connection anew when it breaks.
type Client struct {
	link *link
}

// ClientSpec says what a Client does. Its functions are called by goroutines of the
// client; Urgent and Connected must not block.
type ClientSpec struct {
	Options Options
	Env     drivers.Env
	// Subscribe lists the topics to listen to, with quality of service 1; + and # are
	// allowed.
	Subscribe []string
	// Will is what the broker says, retained, when the connection breaks; nil: nothing.
	Will *Message
	// Urgent may take a message at once, before those that wait; true: it has.
	Urgent func(Message) bool
	// Handle takes messages one by one in the order of their arrival. Up to 1024 wait for
	// it, or 4 MiB; beyond that the oldest are dropped.
	Handle func(Message)
	// Connected is called for each connection, once its subscriptions are granted.
	Connected func()
	// Notify is called for connections that end as if another client took them over; nil: none
	// is.
	Notify func(text string)
}

// Message is a message as it came, or as it is to go.
type Message struct {
	Topic    string
	Payload  []byte
	Retained bool
	// QoS is the quality of service to send it with, 0 or 1.
	QoS byte
}

// NewClient makes a client that is not connected yet. The error names the keys that are
// wrong, all at once.
func NewClient(s ClientSpec) (*Client, error) {
	if err := s.Options.validate(); err != nil {
		return nil, fmt.Errorf("mqtt: %w", err)
	}
	o := s.Options.filled()
	if s.Env.Log == nil {
		s.Env.Log = slog.New(slog.DiscardHandler)
	}
	spec := linkSpec{options: o, env: s.Env, name: o.clientID, notify: s.Notify, topics: s.Subscribe, qos: qos1, onConnect: s.Connected,
		handle: func(m message) { s.Handle(m.public()) }}
	if s.Urgent != nil {
		spec.urgent = func(m message) bool { return s.Urgent(m.public()) }
	}
	if s.Will != nil {
		spec.will = &will{topic: s.Will.Topic, offline: string(s.Will.Payload), silent: true}
	}
	return &Client{link: newLink(spec)}, nil
}

// public is the message as a Client's functions see it.
func (m message) public() Message {
	return Message{Topic: m.topic, Payload: m.payload, Retained: m.retained}
}

// Start begins to look for the broker.
func (c *Client) Start() {
	c.link.tasks.Go(c.link.connectAndMaintain)
	c.link.tasks.Go(c.link.deliver)
}

// Connect makes one connection within ctx, for a client that is of no use without; it is
// called instead of Start.
//
// Errors: drivers.ErrRefused, drivers.ErrUnavailable.
func (c *Client) Connect(ctx context.Context) error { return c.link.start(ctx) }

// Publish sends m over the connection that there is and waits until it has left (QoS 0)
// or the broker has it (QoS 1). Where ctx ends first, the connection is broken, so that m
// cannot leave later.
//
// Errors: drivers.ErrUnavailable.
func (c *Client) Publish(ctx context.Context, m Message) error {
	conn, err := c.link.open()
	if err != nil {
		return err
	}
	if m.QoS == qos0 && !m.Retained {
		return conn.publish(ctx, m.Topic, m.Payload)
	}
	err = conn.put(ctx, m)
	if err != nil && ctx.Err() != nil {
		conn.drop(ctx.Err())
	}
	return err
}

// Connected reports whether there is a connection.
func (c *Client) Connected() bool {
	_, err := c.link.open()
	return err == nil
}

// Close says goodbye to the broker and ends every goroutine of the client. The will is
// not spoken: what is to be said at the end is to be published before.
func (c *Client) Close() { c.link.close() }

// put sends m and waits for the broker's word on it.
func (c *connection) put(ctx context.Context, m Message) error {
	token := c.client.Publish(m.Topic, m.QoS, m.Retained, m.Payload)
	select {
	case <-token.Done():
	case <-c.gone:
		return fmt.Errorf("%w: connection lost: %w", drivers.ErrUnavailable, c.why())
	case <-ctx.Done():
		return fmt.Errorf("%w: the broker does not take a message on %q: %w", drivers.ErrUnavailable, m.Topic, ctx.Err())
	}
	if err := token.Error(); err != nil {
		return errors.Join(drivers.ErrUnavailable, fmt.Errorf("publish to %q: %w", m.Topic, err))
	}
	return nil
}
