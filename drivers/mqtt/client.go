package mqtt

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// Client is a connection to a broker for what is no instrument, such as the tuner's own
// commands and status: messages as they are, with the same cures for the client library's
// traps as a Device. It looks for its broker in the background, for as long as it is open,
// and makes the connection anew when it breaks.
type Client struct {
	link *link.Link
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
	spec := link.Spec{Options: o.Options, Env: s.Env, Name: o.ClientName, Notify: s.Notify, Topics: s.Subscribe, QoS: link.QoS1, OnConnect: s.Connected,
		Handle: func(m link.Arrived) { s.Handle(public(m)) }}
	if s.Urgent != nil {
		spec.Urgent = func(m link.Arrived) bool { return s.Urgent(public(m)) }
	}
	if s.Will != nil {
		spec.Will = &link.Will{Topic: s.Will.Topic, Offline: string(s.Will.Payload), Silent: true}
	}
	return &Client{link: link.New(spec)}, nil
}

// public is the message as a Client's functions see it.
func public(m link.Arrived) Message {
	return Message{Topic: m.Topic, Payload: m.Payload, Retained: m.Retained}
}

// Start begins to look for the broker.
func (c *Client) Start() {
	c.link.Begin()
}

// Connect makes one connection within ctx, for a client that is of no use without; it is
// called instead of Start.
//
// Errors: drivers.ErrRefused, drivers.ErrUnavailable.
func (c *Client) Connect(ctx context.Context) error { return c.link.Start(ctx) }

// Publish sends m over the connection that there is and waits until it has left (QoS 0)
// or the broker has it (QoS 1). Where ctx ends first, the connection is broken, so that m
// cannot leave later.
//
// Errors: drivers.ErrUnavailable.
func (c *Client) Publish(ctx context.Context, m Message) error {
	conn, err := c.link.Open()
	if err != nil {
		return err
	}
	if m.QoS == link.QoS0 && !m.Retained {
		return conn.Publish(ctx, m.Topic, m.Payload)
	}
	err = conn.Put(ctx, m)
	if err != nil && ctx.Err() != nil {
		conn.Drop(ctx.Err())
	}
	return err
}

// Connected reports whether there is a connection.
func (c *Client) Connected() bool {
	_, err := c.link.Open()
	return err == nil
}

// Close says goodbye to the broker and ends every goroutine of the client. The will is
// not spoken: what is to be said at the end is to be published before.
func (c *Client) Close() { c.link.Close() }
