package link

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
	"github.com/eclipse/paho.mqtt.golang/packets"

	"github.com/labtuner/tuner/drivers"
)

const (
	QoS0 = 0
	QoS1 = 1
	// refusedQoS and above is the broker's no to a subscription.
	refusedQoS = 0x80
	// disconnectTime is how long the broker is given to take a clean goodbye.
	DisconnectTime = 250 * time.Millisecond
)

// MaxPayload bounds a message that is read, in bytes.
const MaxPayload = 64 << 10

// ErrClosed is the error of a link that was closed.
var ErrClosed = errors.New("not open; open the device first")

// Connection is one connection to the broker with its own client, used once.
type Connection struct {
	client  paho.Client
	address *url.URL
	Will    *Will // nil: none

	Gone     chan struct{} // closed when the connection is of no use any more
	goneOnce sync.Once
	// sending holds one while a message is being handed to the client library, so that
	// messages leave in the order of the calls, also after one that was given up.
	sending chan struct{}

	// asked is how many topics the last subscription had.
	asked atomic.Int64

	mu    sync.Mutex
	conn  net.Conn // the transport below TLS; nil until it is open
	cause error
}

// connect makes one attempt: transport, login, subscriptions. A no of the broker
// wraps drivers.ErrRefused, what a later attempt may cure drivers.ErrUnavailable;
// an error of neither kind is one of the files.
func (l *Link) connect(ctx context.Context) (*Connection, error) {
	address, err := l.Options.node(l.node)
	if err != nil {
		return nil, err
	}
	l.node++ // the next attempt is the next node's, where there are several
	if l.id == "" {
		if l.id, err = l.Name(); err != nil {
			return nil, err
		}
	}
	c := &Connection{Gone: make(chan struct{}), sending: make(chan struct{}, 1), address: address, Will: l.Will}
	o, err := l.clientOptions(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("broker %s: %w", address.Redacted(), err)
	}
	c.client = paho.NewClient(o)

	stop := context.AfterFunc(ctx, func() { c.Drop(context.Cause(ctx)) })
	err = c.login()
	if err == nil {
		l.enter(c)
		err = c.subscribe(ctx, l.Topics, l.QoS)
	}
	if err == nil {
		if err = c.subscribe(ctx, l.Optional, QoS1); errors.Is(err, drivers.ErrRefused) {
			err = nil
		}
	}
	if err == nil && c.Will != nil && !c.Will.Silent {
		err = c.Announce(ctx, c.Will.Online)
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
func (l *Link) clientOptions(ctx context.Context, c *Connection) (*paho.ClientOptions, error) {
	password, err := l.Options.password()
	if err != nil {
		return nil, err
	}
	dial := l.Options.Dial
	if isTLS(c.address) {
		config, err := l.Options.tlsConfig(c.address, l.Env.Clock.Now)
		if err != nil {
			return nil, err
		}
		dial = func(ctx context.Context, broker *url.URL) (net.Conn, error) {
			conn, err := l.Options.Dial(ctx, broker)
			if err != nil {
				return nil, err
			}
			return tlsHandshake(ctx, c.setTransport(conn), config)
		}
	}
	o := paho.NewClientOptions()
	if w := l.Will; w != nil {
		o.SetBinaryWill(w.Topic, []byte(w.Offline), QoS1, true)
	}
	return o.AddBroker(c.address.String()).SetClientID(l.id).
		SetUsername(l.Options.Username).SetPassword(password).
		SetProtocolVersion(4). // 3.1.1, without a second attempt as 3.1
		SetCleanSession(true). // nothing is kept for us while we are away
		SetAutoReconnect(false).SetConnectRetry(false).
		SetKeepAlive(l.Options.KeepAlive).SetPingTimeout(l.Options.PingTimeout).
		SetWriteTimeout(l.Options.WriteTimeout).SetConnectTimeout(l.Options.ConnectTimeout).
		SetOrderMatters(true). // the handler only enqueues, so the order costs nothing
		SetDefaultPublishHandler(func(_ paho.Client, m paho.Message) {
			payload := m.Payload()
			payload = slices.Clone(payload[:min(len(payload), max(MaxPayload, l.Largest)+1)]) // enough to say that it is too long
			come := Arrived{Topic: m.Topic(), Payload: payload, Retained: m.Retained(), At: l.Env.Clock.Now(), From: c}
			if l.Urgent == nil || !l.Urgent(come) {
				l.queue.put(come)
			}
		}).
		SetConnectionLostHandler(func(_ paho.Client, err error) { c.Drop(err) }).
		SetCustomOpenConnectionFn(func(*url.URL, paho.ClientOptions) (net.Conn, error) {
			conn, err := dial(ctx, c.address)
			if err != nil {
				return nil, err
			}
			if !isTLS(c.address) {
				conn = c.setTransport(conn)
			}
			return &timedConn{Conn: limitPackets(conn, &c.asked), timeout: l.Options.WriteTimeout, failed: c.Drop}, nil
		}), nil
}

// login waits for the broker's word on the connection; dropping the connection
// ends the wait.
func (c *Connection) login() error {
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
func (c *Connection) subscribe(ctx context.Context, topics []string, qos byte) error {
	if len(topics) == 0 {
		return nil
	}
	filters := make(map[string]byte, len(topics))
	for _, topic := range topics {
		filters[topic] = qos
	}
	c.asked.Store(int64(len(topics)))
	token, err := c.ask(ctx, func() paho.Token { return c.client.SubscribeMultiple(filters, nil) })
	if err != nil {
		return fmt.Errorf("%w: no answer to the subscription: %w", drivers.ErrUnavailable, err)
	}
	result := token.(*paho.SubscribeToken).Result()
	for _, topic := range topics {
		if code, answered := result[topic]; answered && code >= refusedQoS {
			return fmt.Errorf("%w: the broker does not let this client subscribe to %q; check its access rules", drivers.ErrRefused, topic)
		}
	}
	if err := token.Error(); err != nil {
		return fmt.Errorf("%w: subscription: %w", drivers.ErrUnavailable, err)
	}
	return nil
}

// ask has the client library send something, and waits for the broker's answer until the
// connection or ctx ends. send runs beside the caller: where the connection has just ended, the
// library waits in it for as long as a message may take to be written. What is asked leaves in the order of the
// calls, also after what was given up: a word that is renewed does not follow the one that takes it back.
func (c *Connection) ask(ctx context.Context, send func() paho.Token) (paho.Token, error) {
	select {
	case c.sending <- struct{}{}:
	case <-c.Gone:
		return nil, fmt.Errorf("connection lost: %w", c.Why())
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	answer := make(chan paho.Token, 1)
	go func() {
		token := send()
		<-c.sending
		select {
		case <-token.Done():
			answer <- token
		case <-c.Gone:
		}
	}()
	select {
	case token := <-answer:
		return token, nil
	case <-c.Gone:
		return nil, fmt.Errorf("connection lost: %w", c.Why())
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// Publish sends one message on this connection or not at all. When it cannot
// tell in time whether the message left, it breaks the connection, so that the
// message cannot leave later; but not where a safe value overtakes it, which needs the
// connection, and leaves after it.
func (c *Connection) Publish(ctx context.Context, topic string, payload []byte) error {
	select {
	case c.sending <- struct{}{}:
	case <-c.Gone:
		return fmt.Errorf("%w: connection lost before publishing to %q: %w", drivers.ErrUnavailable, topic, c.Why())
	case <-ctx.Done():
		return fmt.Errorf("%w: publish to %q: %w", drivers.ErrUnavailable, topic, context.Cause(ctx))
	}
	sent := make(chan error, 1)
	go func() {
		token := c.client.Publish(topic, QoS0, false, payload)
		<-c.sending
		select {
		case <-token.Done():
			sent <- token.Error()
		case <-c.Gone:
		}
	}()
	select {
	case err := <-sent:
		if err != nil {
			c.Drop(err)
			return fmt.Errorf("%w: publish to %q: %w", drivers.ErrUnavailable, topic, err)
		}
		return nil
	case <-c.Gone:
		return fmt.Errorf("%w: connection lost while publishing to %q: %w", drivers.ErrUnavailable, topic, c.Why())
	case <-ctx.Done():
		if errors.Is(context.Cause(ctx), drivers.ErrPreempted) {
			return fmt.Errorf("%w: publish to %q: %w", drivers.ErrUnavailable, topic, drivers.ErrPreempted)
		}
		c.Drop(ctx.Err())
		return fmt.Errorf("%w: publish to %q did not end in time, and the connection was broken so that it cannot arrive late: %w", drivers.ErrUnavailable, topic, ctx.Err())
	}
}

// errSilent ends a connection over which the broker does not answer.
var errSilent = errors.New("the broker does not answer over this connection")

// unusedTopic is a topic without subscribers. To give up a subscription that is not there
// needs no right and changes nothing, and a broker answers it as it does any other (MQTT
// 3.1.1, 3.10.4), in the order of what it has received.
const unusedTopic = "tuner/nowhere"

// AwaitRoundTrip waits for the broker's answer to a question that leaves after what was published
// before: then that has arrived. It breaks the connection where none comes in time, but not
// where a safe value overtakes it.
func (c *Connection) AwaitRoundTrip(ctx context.Context, most time.Duration) error {
	limited, cancel := context.WithTimeoutCause(ctx, most, errSilent)
	defer cancel()
	token, err := c.ask(limited, func() paho.Token { return c.client.Unsubscribe(unusedTopic) })
	switch {
	case errors.Is(err, errSilent):
		c.Drop(errSilent)
		return fmt.Errorf("%w: %w within %v, and it was ended", drivers.ErrUnavailable, errSilent, most)
	case err != nil:
		return fmt.Errorf("%w: %w", drivers.ErrUnavailable, err)
	case token.Error() != nil:
		c.Drop(token.Error())
		return fmt.Errorf("%w: %w", drivers.ErrUnavailable, token.Error())
	}
	return nil
}

// Announce says on the will's topic what we are, and waits until the broker has it.
func (c *Connection) Announce(ctx context.Context, text string) error {
	token, err := c.ask(ctx, func() paho.Token { return c.client.Publish(c.Will.Topic, QoS1, true, text) })
	if err != nil {
		return fmt.Errorf("%w: the broker does not take the status: %w", drivers.ErrUnavailable, err)
	}
	if err := token.Error(); err != nil {
		return fmt.Errorf("%w: status: %w", drivers.ErrUnavailable, err)
	}
	return nil
}

// setTransport keeps the transport for drop, and returns the one to speak over. It must be the
// one below TLS: closing the upper one sends a farewell first, which a dead link holds up
// for seconds.
func (c *Connection) setTransport(conn net.Conn) net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conn = conn
	select {
	case <-c.Gone: // dropped while dialling
		conn.Close()
	default:
	}
	return lingeringConn{conn}
}

// ClientID is the identifier by which the broker knows the connection.
func (c *Connection) ClientID() string {
	o := c.client.OptionsReader()
	return o.ClientID()
}

// Transport is the one below TLS, nil before it is open.
func (c *Connection) Transport() net.Conn {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.conn
}

// errEnded is the cause of a connection that has said goodbye.
var errEnded = errors.New("closed")

// Drop makes the connection useless at once. The first cause counts. What this computer has
// not got rid of yet is thrown away, so that it cannot arrive late, but after a goodbye.
func (c *Connection) Drop(cause error) {
	c.goneOnce.Do(func() {
		if cause == nil {
			cause = errors.New("closed by the broker")
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.cause = cause
		close(c.Gone)
		if c.conn == nil {
			return
		}
		if tcp, ok := c.conn.(interface{ SetLinger(sec int) error }); ok && !errors.Is(cause, errEnded) {
			_ = tcp.SetLinger(0) // where it fails, the kernel goes on to send
		}
		c.conn.Close()
	})
}

// IsGone reports whether the connection is of no use any more.
func (c *Connection) IsGone() bool {
	select {
	case <-c.Gone:
		return true
	default:
		return false
	}
}

// Why is the cause of a connection that is gone.
func (c *Connection) Why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cause
}

// end says goodbye where that is still possible and frees the client. The broker
// does not speak the will of a client that says goodbye, so the client does.
func (c *Connection) end() {
	if c.Will != nil && !c.Will.Silent && c.client.IsConnectionOpen() {
		ctx, cancel := context.WithTimeout(context.Background(), DisconnectTime)
		_ = c.Announce(ctx, c.Will.Offline) // the broker speaks the will where this fails
		cancel()
	}
	c.client.Disconnect(uint(DisconnectTime.Milliseconds()))
	c.Drop(errEnded)
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

// Message is a message as it came, or as it is to go.
type Message struct {
	Topic    string
	Payload  []byte
	Retained bool
	// QoS is the quality of service to send it with, 0 or 1.
	QoS byte
}

// Put sends m and waits for the broker's word on it.
func (c *Connection) Put(ctx context.Context, m Message) error {
	token, err := c.ask(ctx, func() paho.Token { return c.client.Publish(m.Topic, m.QoS, m.Retained, m.Payload) })
	if err != nil {
		return fmt.Errorf("%w: the broker does not take a message on %q: %w", drivers.ErrUnavailable, m.Topic, err)
	}
	if err := token.Error(); err != nil {
		return errors.Join(drivers.ErrUnavailable, fmt.Errorf("publish to %q: %w", m.Topic, err))
	}
	return nil
}
