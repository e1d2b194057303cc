package mqtt

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/labtuner/tuner/drivers"
)

const (
	qos0 = 0
	qos1 = 1
	// refusedQoS and above is the broker's no to a subscription.
	refusedQoS = 0x80
	// disconnectTime is how long the broker is given to take a clean goodbye.
	disconnectTime = 250 * time.Millisecond
)

// connection is one connection to the broker with its own client, used once.
type connection struct {
	client  paho.Client
	address *url.URL
	will    *will // nil: none

	gone     chan struct{} // closed when the connection is of no use any more
	goneOnce sync.Once
	// sending holds one while a message is being handed to the client library, so that
	// messages leave in the order of the calls, also after one that was given up.
	sending chan struct{}

	mu    sync.Mutex
	conn  net.Conn // the transport below TLS; nil until it is open
	cause error
}

// connect makes one attempt: transport, login, subscriptions. A no of the broker
// wraps drivers.ErrRefused, what a later attempt may cure drivers.ErrUnavailable;
// an error of neither kind is one of the files.
func (l *link) connect(ctx context.Context) (*connection, error) {
	address, err := l.options.node(l.node)
	if err != nil {
		return nil, err
	}
	l.node++ // the next attempt is the next node's, where there are several
	if l.id == "" {
		if l.id, err = l.name(); err != nil {
			return nil, err
		}
	}
	c := &connection{gone: make(chan struct{}), sending: make(chan struct{}, 1), address: address, will: l.will}
	o, err := l.clientOptions(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("broker %s: %w", address.Redacted(), err)
	}
	c.client = paho.NewClient(o)

	stop := context.AfterFunc(ctx, func() { c.drop(ctx.Err()) })
	err = c.login()
	if err == nil {
		err = c.subscribe(ctx, l.topics, l.qos)
	}
	if err == nil {
		if err = c.subscribe(ctx, l.optional, qos1); errors.Is(err, drivers.ErrRefused) {
			err = nil
		}
	}
	if err == nil && c.will != nil && !c.will.silent {
		err = c.announce(ctx, c.will.online)
	}
	if !stop() && err == nil {
		err = ctx.Err() // dropped just now
	}
	if err != nil {
		c.end()
		return nil, fmt.Errorf("broker %s: %w", address.Redacted(), err)
	}
	return c, nil
}

// clientOptions are the client library's settings; the README says which trap
// each one is for.
func (l *link) clientOptions(ctx context.Context, c *connection) (*paho.ClientOptions, error) {
	password, err := l.options.password()
	if err != nil {
		return nil, err
	}
	dial := l.options.Dial
	if isTLS(c.address) {
		config, err := l.options.tlsConfig(c.address, l.env.Clock.Now)
		if err != nil {
			return nil, err
		}
		dial = func(ctx context.Context, broker *url.URL) (net.Conn, error) {
			conn, err := l.options.Dial(ctx, broker)
			if err != nil {
				return nil, err
			}
			return tlsHandshake(ctx, c.setTransport(conn), config)
		}
	}
	o := paho.NewClientOptions()
	if w := l.will; w != nil {
		o.SetBinaryWill(w.topic, []byte(w.offline), qos1, true)
	}
	return o.AddBroker(c.address.String()).SetClientID(l.id).
		SetUsername(l.options.Username).SetPassword(password).
		SetProtocolVersion(4). // 3.1.1, without a second attempt as 3.1
		SetCleanSession(true). // nothing is kept for us while we are away
		SetAutoReconnect(false).SetConnectRetry(false).
		SetKeepAlive(l.options.KeepAlive).SetPingTimeout(l.options.PingTimeout).
		SetWriteTimeout(l.options.WriteTimeout).SetConnectTimeout(l.options.ConnectTimeout).
		SetOrderMatters(true). // the handler only enqueues, so the order costs nothing
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) {
			payload := m.Payload()
			payload = slices.Clone(payload[:min(len(payload), maxPayload+1)]) // enough to say that it is too long
			come := message{topic: m.Topic(), payload: payload, retained: m.Retained(), at: l.env.Clock.Now(), from: c}
			if l.urgent == nil || !l.urgent(come) {
				l.queue.put(come)
			}
		}).
		SetConnectionLostHandler(func(_ paho.Client, err error) { c.drop(err) }).
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) {
			conn, err := dial(ctx, c.address)
			if err != nil {
				return nil, err
			}
			if !isTLS(c.address) {
				conn = c.setTransport(conn)
			}
			return &timedConn{Conn: limitPackets(conn), timeout: l.options.WriteTimeout, failed: c.drop}, nil
		}), nil
}

// login waits for the broker's word on the connection; dropping the connection
// ends the wait.
func (c *connection) login() error {
	token := c.client.Connect().(*paho.ConnectToken)
	<-token.Done()
	err := token.Error()
	switch token.ReturnCode() {
	case packets.ErrRefusedBadProtocolVersion, packets.ErrRefusedIDRejected, packets.ErrRefusedBadUsernameOrPassword, packets.ErrRefusedNotAuthorised:
		return fmt.Errorf("%w: %w; check client_id, username and password_file", drivers.ErrRefused, err)
	}
	if err != nil {
		return explainTLS(err, c.address)
	}
	return nil
}

// subscribe asks for the topics and checks the broker's answer to each.
func (c *connection) subscribe(ctx context.Context, topics []string, qos byte) error {
	if len(topics) == 0 {
		return nil
	}
	filters := make(map[string]byte, len(topics))
	for _, topic := range topics {
		filters[topic] = qos
	}
	token := c.client.SubscribeMultiple(filters, nil).(*paho.SubscribeToken)
	select {
	case <-token.Done():
	case <-c.gone:
		return fmt.Errorf("%w: connection lost while subscribing: %w", drivers.ErrUnavailable, c.why())
	case <-ctx.Done():
		return fmt.Errorf("%w: no answer to the subscription: %w", drivers.ErrUnavailable, ctx.Err())
	}
	for _, topic := range topics {
		if code, answered := token.Result()[topic]; answered && code >= refusedQoS {
			return fmt.Errorf("%w: the broker does not let this client subscribe to %q; check its access rules", drivers.ErrRefused, topic)
		}
	}
	if err := token.Error(); err != nil {
		return fmt.Errorf("%w: subscription: %w", drivers.ErrUnavailable, err)
	}
	return nil
}

// publish sends one message on this connection or not at all. When it cannot
// tell in time whether the message left, it breaks the connection, so that the
// message cannot leave later; but not where a safe value overtakes it, which needs the
// connection, and leaves after it.
func (c *connection) publish(ctx context.Context, topic string, payload []byte) error {
	select {
	case c.sending <- struct{}{}:
	case <-c.gone:
		return fmt.Errorf("%w: connection lost before publishing to %q: %w", drivers.ErrUnavailable, topic, c.why())
	case <-ctx.Done():
		return fmt.Errorf("%w: publish to %q: %w", drivers.ErrUnavailable, topic, context.Cause(ctx))
	}
	sent := make(chan error, 1)
	go func() {
		token := c.client.Publish(topic, qos0, false, payload)
		<-c.sending
		select {
		case <-token.Done():
			sent <- token.Error()
		case <-c.gone:
		}
	}()
	select {
	case err := <-sent:
		if err != nil {
			c.drop(err)
			return fmt.Errorf("%w: publish to %q: %w", drivers.ErrUnavailable, topic, err)
		}
		return nil
	case <-c.gone:
		return fmt.Errorf("%w: connection lost while publishing to %q: %w", drivers.ErrUnavailable, topic, c.why())
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), drivers.ErrPreempted) {
			return fmt.Errorf("%w: publish to %q: %w", drivers.ErrUnavailable, topic, drivers.ErrPreempted)
		}
		c.drop(ctx.Err())
		return fmt.Errorf("%w: publish to %q did not end in time, and the connection was broken so that it cannot arrive late: %w", drivers.ErrUnavailable, topic, ctx.Err())
	}
}

// errSilent ends a connection over which the broker does not answer.
var errSilent = errors.New("the broker does not answer over this connection")

// unusedTopic is a topic without subscribers. To give up a subscription that is not there
// needs no right and changes nothing, and a broker answers it as it does any other (MQTT
// 3.1.1, 3.10.4), in the order of what it has received.
const unusedTopic = "tuner/nowhere"

// awaitRoundTrip waits for the broker's answer to a question that leaves after what was published
// before: then that has arrived. It breaks the connection where none comes in time, but not
// where a safe value overtakes it.
func (c *connection) awaitRoundTrip(ctx context.Context, most time.Duration) error {
	limit := time.NewTimer(most)
	defer limit.Stop()
	answer := make(chan error, 1)
	go func() {
		token := c.client.Unsubscribe(unusedTopic)
		select {
		case <-token.Done():
			answer <- token.Error()
		case <-c.gone:
		}
	}()
	select {
	case err := <-answer:
		if err == nil {
			return nil
		}
		c.drop(err)
		return fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	case <-c.gone:
		return fmt.Errorf("%w: connection lost: %w", drivers.ErrUnavailable, c.why())
	case <-limit.C:
		c.drop(errSilent)
		return fmt.Errorf("%w: %w within %v, and it was ended", drivers.ErrUnavailable, errSilent, most)
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", drivers.ErrUnavailable, context.Cause(ctx))
	}
}

// announce says on the will's topic what we are, and waits until the broker has it.
func (c *connection) announce(ctx context.Context, text string) error {
	token := c.client.Publish(c.will.topic, qos1, true, text)
	select {
	case <-token.Done():
	case <-c.gone:
		return fmt.Errorf("%w: connection lost: %w", drivers.ErrUnavailable, c.why())
	case <-ctx.Done():
		return fmt.Errorf("%w: the broker does not take the status: %w", drivers.ErrUnavailable, ctx.Err())
	}
	if err := token.Error(); err != nil {
		return fmt.Errorf("%w: status: %w", drivers.ErrUnavailable, err)
	}
	return nil
}

// setTransport keeps the transport for drop, and returns the one to speak over. It must be the
// one below TLS: closing the upper one sends a farewell first, which a dead link holds up
// for seconds.
func (c *connection) setTransport(conn net.Conn) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	select {
	case <-c.gone: // dropped while dialling
		conn.Close()
	default:
	}
	return lingeringConn{conn}
}

// errEnded is the cause of a connection that has said goodbye.
var errEnded = errors.New("closed")

// drop makes the connection useless at once. The first cause counts. What this computer has
// not got rid of yet is thrown away, so that it cannot arrive late, but after a goodbye.
func (c *connection) drop(cause error) {
	c.goneOnce.Do(func() {
		if cause == nil {
			cause = errors.New("closed by the broker")
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cause = cause
		close(c.gone)
		if c.conn == nil {
			return
		}
		if tcp, ok := c.conn.(interface{ SetLinger(sec int) error }); ok && !errors.Is(cause, errEnded) {
			_ = tcp.SetLinger(0) // where it fails, the kernel goes on to send
		}
		c.conn.Close()
	})
}

// isGone reports whether the connection is of no use any more.
func (c *connection) isGone() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// why is the cause of a connection that is gone.
func (c *connection) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// end says goodbye where that is still possible and frees the client. The broker
// does not speak the will of a client that says goodbye, so the client does.
func (c *connection) end() {
	if c.will != nil && !c.will.silent && c.client.IsConnectionOpen() {
		ctx, cancel := context.WithTimeout(context.Background(), disconnectTime)
		_ = c.announce(ctx, c.will.offline) // the broker speaks the will where this fails
		cancel()
	}
	c.client.Disconnect(uint(disconnectTime.Milliseconds()))
	c.drop(errEnded)
}

// timedConn gives every write a deadline, and ends the connection where
// one fails: a part of a packet may have left. The client library does neither for
// its pings, and a ping that blocks is a dead link that is not noticed.
type timedConn struct {
	net.Conn
	timeout time.Duration
	failed  func(error)
}

// Write sends p within the timeout, or fails.
func (t *timedConn) Write(p []byte) (int, error) {
	err := t.Conn.SetWriteDeadline(time.Now().Add(t.timeout))
	n := 0
	if err == nil {
		n, err = t.Conn.Write(p)
	}
	if err != nil {
		t.failed(err)
	}
	return n, err
}

// SetWriteDeadline does nothing: Write sets its own.
func (*timedConn) SetWriteDeadline(time.Time) error { return nil }
