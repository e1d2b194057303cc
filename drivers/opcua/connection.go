package opcua

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uacp"
	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/drivers"
)

const (
	// longRequest is the library's own bound of a request, beyond all of ours.
	longRequest = 10 * time.Minute
	// mostMessage and mostChunks bound what a server may send at once: 1024 values take 100 KB.
	mostMessage = 4 << 20
	mostChunks  = 64
	// goodbye is how long the server is given to take the end of a session.
	goodbye = 500 * time.Millisecond
)

// connection is one connection to the server with its own client and session, used once.
type connection struct {
	client  *opcua.Client
	options *Options
	ctx     context.Context // ends with the connection
	cancel  context.CancelFunc
	tasks   sync.WaitGroup
	onBreak func() // called once where the connection ended by itself

	// subscription is the number of the one that there is, 0 where there is none. It is set
	// before the connection is used.
	subscription uint32

	gone chan struct{} // closed when the connection is of no use any more

	mu     sync.Mutex
	cause  error
	socket syscall.RawConn // nil until there is one
	// underWay is closed when the last write that was sent has its answer; nil: none was sent.
	underWay chan struct{}
}

// connect makes one attempt: transport, secure channel, an end to the session before, session.
// A no of the server wraps drivers.ErrRefused, what a later attempt may cure
// drivers.ErrUnavailable; an error of neither kind is one of the files.
func connect(ctx context.Context, o *Options, before *opcua.Session, now time.Time, onBreak func()) (made *connection, err error) {
	c := &connection{options: o, gone: make(chan struct{}), onBreak: onBreak}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	defer func() {
		if err != nil {
			c.onBreak = func() {}
			c.breakOff(err)
			c.tasks.Wait()
		}
	}()
	dial := opcua.Dialer(&uacp.Dialer{Dialer: &net.Dialer{Control: c.prepare},
		ClientACK: &uacp.Acknowledge{ReceiveBufSize: uacp.DefaultReceiveBufSize, SendBufSize: uacp.DefaultSendBufSize, MaxMessageSize: mostMessage, MaxChunkCount: mostChunks}})
	options, endpoint, err := o.secured(ctx, dial, now)
	if err != nil {
		return nil, err
	}
	if c.client, err = opcua.NewClient(o.Endpoint, append(options, dial, opcua.AutoReconnect(false), opcua.RequestTimeout(longRequest))...); err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, c.shutdown) // the library does not look at ctx everywhere
	defer stop()
	if err := c.client.Dial(ctx); err != nil {
		return nil, failed("no connection", err)
	}
	if before != nil { // what still comes over the old connection is refused from here on
		if err := c.client.ActivateSession(ctx, before); err == nil {
			_ = c.client.CloseSession(ctx) // where it fails, the server forgets it after session_timeout
		}
	}
	if endpoint == nil {
		all, err := c.client.GetEndpoints(ctx)
		if err != nil {
			return nil, failed("the server does not tell its endpoints", err)
		}
		if len(all.Endpoints) == 0 && o.Username == "" { // it knows itself by another address, behind a tunnel or a NAT
			all.Endpoints = []*ua.EndpointDescription{unknown}
		}
		if endpoint, err = o.choose(all.Endpoints); err != nil {
			return nil, err
		}
	}
	who, err := o.login(endpoint)
	if err != nil {
		return nil, err
	}
	session, err := c.client.CreateSession(ctx, who)
	switch {
	case err != nil:
		return nil, failed("no session", err)
	case session == nil: // the library says no more
		return nil, fmt.Errorf("%w: the server does not prove that its certificate is its own", drivers.ErrRefused)
	}
	if err := c.client.ActivateSession(ctx, session); err != nil {
		return nil, failed("the server does not let this client in; see username and cert_file", err)
	}
	if c.client.Session() == nil {
		return nil, fmt.Errorf("%w: the session cannot be signed", drivers.ErrRefused)
	}
	return c, nil
}

// unknown is taken for the endpoint of a server that tells none: anonymous, by the usual name.
var unknown = &ua.EndpointDescription{SecurityMode: ua.MessageSecurityModeNone, SecurityPolicyURI: ua.SecurityPolicyURINone,
	UserIdentityTokens: []*ua.UserTokenPolicy{{PolicyID: "Anonymous", TokenType: ua.UserTokenTypeAnonymous}}}

// failed sorts why a connection did not come about.
func failed(what string, err error) error {
	kind := drivers.ErrUnavailable
	var status ua.StatusCode
	if errors.As(err, &status) && slices.Contains(final, status) {
		kind = drivers.ErrRefused
	}
	return fmt.Errorf("%w: %s: %w", kind, what, err)
}

// final are the noes of a server to a login that asking again does not cure.
var final = []ua.StatusCode{ua.StatusBadUserAccessDenied, ua.StatusBadIdentityTokenRejected, ua.StatusBadIdentityTokenInvalid, ua.StatusBadSecurityChecksFailed,
	ua.StatusBadCertificateUntrusted, ua.StatusBadCertificateInvalid, ua.StatusBadCertificateURIInvalid, ua.StatusBadSecurityPolicyRejected, ua.StatusBadSecurityModeRejected}

// prepare has a socket throw away what it has not got rid of when it is closed, and give up
// where nothing is acknowledged for the time that an answer may take.
func (c *connection) prepare(_, _ string, socket syscall.RawConn) error {
	c.mu.Lock()
	c.socket = socket
	c.mu.Unlock()
	var problems error
	err := socket.Control(func(fd uintptr) {
		problems = errors.Join(
			unix.SetsockoptLinger(int(fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1, Linger: 0}),
			unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(c.options.ReplyTimeout.Milliseconds())))
	})
	return errors.Join(err, problems)
}

// shutdown ends the transport, so that whoever is blocked in it returns.
func (c *connection) shutdown() {
	c.mu.Lock()
	socket := c.socket
	c.mu.Unlock()
	if socket != nil {
		_ = socket.Control(func(fd uintptr) { _ = unix.Shutdown(int(fd), unix.SHUT_RDWR) }) // it may be gone already
	}
}

// breakOff ends the connection, once, and what this computer has not got rid of with it.
func (c *connection) breakOff(why error) {
	c.mu.Lock()
	if c.cause != nil {
		c.mu.Unlock()
		return
	}
	c.cause = why
	c.tasks.Add(1) // from here on, run begins no task
	tell := c.onBreak
	c.mu.Unlock()
	tell()
	close(c.gone)
	c.cancel()
	c.shutdown()
	go func() {
		defer c.tasks.Done()
		if c.client != nil {
			_ = c.client.Close(c.ctx) // the transport has ended: there is nothing to say it to
		}
	}()
}

// run begins a task unless the connection has ended.
func (c *connection) run(f func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cause == nil {
		c.tasks.Go(f)
	}
}

// end says goodbye and ends the connection and all its goroutines.
func (c *connection) end() {
	if !c.isGone() {
		ctx, cancel := context.WithTimeout(c.ctx, goodbye)
		if c.subscription != 0 { // not every server ends it with the session
			_, _ = call[*ua.DeleteSubscriptionsResponse](ctx, c, "the end of the subscription", &ua.DeleteSubscriptionsRequest{SubscriptionIDs: []uint32{c.subscription}}, goodbye)
		}
		_, _ = call[*ua.CloseSessionResponse](ctx, c, "the end of the session", &ua.CloseSessionRequest{DeleteSubscriptions: true}, goodbye)
		cancel()
		c.mu.Lock()
		c.onBreak = func() {}
		c.mu.Unlock()
	}
	c.breakOff(errClosed)
	c.tasks.Wait()
}

func (c *connection) isGone() bool {
	select {
	case <-c.gone:
		return true
	default:
		return false
	}
}

// why is what ended the connection.
func (c *connection) why() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return fmt.Errorf("%w: %w: %w", drivers.ErrUnavailable, drivers.ErrClosed, c.cause)
}

// call makes one request and gives its answer. One that does not come within limit, or that
// says that connection or session are over, breaks the connection; a no of the server wraps
// drivers.ErrRefused. A caller whose context ends returns at once, and the answer is dropped.
func call[T ua.Response](ctx context.Context, c *connection, what string, request ua.Request, limit time.Duration) (T, error) {
	type outcome struct {
		answer T
		err    error
	}
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	done := make(chan outcome, 1)
	limited, cancel := context.WithTimeout(c.ctx, limit)
	defer context.AfterFunc(c.ctx, cancel)() // where the task does not begin
	c.run(func() {
		defer cancel()
		var o outcome
		o.err = c.client.Send(limited, request, func(r ua.Response) error {
			var ok bool
			if o.answer, ok = r.(T); !ok {
				return fmt.Errorf("%w: the answer to %s is a %T", drivers.ErrProtocol, what, r)
			}
			return nil
		})
		o.err = c.sort(what, o.err, limited, limit)
		done <- o
	})
	select {
	case o := <-done:
		return o.answer, o.err
	case <-c.gone:
		return none, c.why()
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

// sort says what an error of a request means, and ends the connection where it is over.
func (c *connection) sort(what string, err error, limited context.Context, limit time.Duration) error {
	var status ua.StatusCode
	switch {
	case err == nil:
		return nil
	case c.isGone():
		return c.why()
	case limited.Err() != nil:
		err = fmt.Errorf("no answer to %s within %v", what, limit)
	case errors.Is(err, io.EOF):
		err = errors.New("the connection has ended")
	case errors.As(err, &status) && !slices.Contains(over, status):
		return fmt.Errorf("%w: %s: %w", drivers.ErrRefused, what, err)
	default:
		err = fmt.Errorf("%s: %w", what, err)
	}
	c.breakOff(err)
	return c.why()
}

// over are the answers that say that session or connection are no more.
var over = []ua.StatusCode{ua.StatusBadSessionIDInvalid, ua.StatusBadSessionClosed, ua.StatusBadSessionNotActivated, ua.StatusBadSecureChannelIDInvalid, ua.StatusBadSecureChannelClosed,
	ua.StatusBadConnectionClosed, ua.StatusBadServerNotConnected, ua.StatusBadServerHalted, ua.StatusBadShutdown, ua.StatusBadNoSubscription, ua.StatusBadSubscriptionIDInvalid,
	ua.StatusBadTimeout, ua.StatusBadDecodingError, ua.StatusBadEncodingError, ua.StatusBadUnknownResponse, ua.StatusBadSecurityChecksFailed}
