package port

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/drivers"
)

// tcpPort is a port on the network.
type tcpPort struct {
	conn  *net.TCPConn
	raw   syscall.RawConn
	slice time.Duration
	// telnet takes commands out of what comes, and hides those in what is sent; nil: the
	// connection carries the instrument's bytes alone.
	telnet *telnet
	in     []byte // what has come and was not read
	over   error  // why nothing more comes
}

const (
	// keepAlive is how long a connection may be idle before the other side is asked whether it
	// is there, and the time from one such question to the next; the third without an answer
	// ends the connection.
	keepAlive = 5 * time.Second
	// lingering is how long Close waits for what was sent to be confirmed by the other side's
	// network; a host delays its confirmation by up to 0.2 s (RFC 1122, 4.2.3.2, allows 0.5 s).
	lingering = 250 * time.Millisecond
	// dialLeast is the least time that a connection may take to be made, however short the
	// answers' time-out is: a lost first packet is sent again after 1 s (RFC 6298, 2.1).
	dialLeast = 1200 * time.Millisecond
)

// Connecting is how long a connection may take where answers may take reply.
func Connecting(reply time.Duration) time.Duration { return max(reply, dialLeast) }

// dial connects to a port on the network. An error wraps drivers.ErrUnavailable.
func dial(ctx context.Context, a Address, s Spec) (Raw, error) {
	ctx, cancel := context.WithTimeout(ctx, s.Patience)
	defer cancel()
	d := net.Dialer{
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive, Count: 3},
		// What the other side's network does not confirm for so long was sent to nobody.
		ControlContext: func(_ context.Context, _, _ string, raw syscall.RawConn) (err error) {
			controlErr := raw.Control(func(fd uintptr) {
				err = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(s.Patience/time.Millisecond))
			})
			return errors.Join(controlErr, err)
		},
	}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(a.Host, a.Port))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrUnavailable, dialProblem(err, s.Patience))
	}
	p := &tcpPort{conn: conn.(*net.TCPConn), slice: s.Slice}
	if p.raw, err = p.conn.SyscallConn(); err == nil && a.Scheme == schemeRFC2217 {
		err = p.negotiate(ctx, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", drivers.ErrUnavailable, errors.Join(err, p.conn.Close()))
	}
	return p, nil
}

// dialProblem says what to look at where no connection is made.
func dialProblem(err error, patience time.Duration) error {
	var unknown *net.DNSError
	switch {
	case errors.Is(err, unix.ECONNREFUSED):
		return fmt.Errorf("refused: nothing takes connections at this port number; is the instrument's socket server switched on, is the number right, and has another program the only connection that it gives? (%w)", err)
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Errorf("this host name is unknown; write the instrument's IP address, which its network menu shows (%w)", err)
	case errors.Is(err, unix.EHOSTUNREACH), errors.Is(err, unix.ENETUNREACH):
		return fmt.Errorf("no way leads there; is the instrument on, and is this computer in its network? (%w)", err)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, unix.ETIMEDOUT):
		return fmt.Errorf("no connection within %v; is the instrument on, is the address right, and does a firewall let this computer through? (%w)", patience, err)
	}
	return err
}

// errHungUp is the end of a connection that the other side has closed.
var errHungUp = errors.New("the other side has closed the connection; has the instrument restarted, or given its only connection to another program?")

// ended says in words why a connection is over.
func ended(err error) error {
	switch {
	case errors.Is(err, io.EOF):
		return errHungUp
	case errors.Is(err, unix.ECONNRESET), errors.Is(err, unix.EPIPE):
		return fmt.Errorf("%w (%w)", errHungUp, err)
	case errors.Is(err, unix.ETIMEDOUT):
		return fmt.Errorf("the network does not reach the instrument any more (%w)", err)
	}
	return err
}

// Read implements Raw.
func (p *tcpPort) Read(b []byte) (int, error) {
	if len(p.in) == 0 && p.over == nil {
		if err := p.conn.SetReadDeadline(time.Now().Add(p.slice)); err != nil {
			return 0, err
		}
		var chunk [4096]byte
		n, err := p.conn.Read(chunk[:])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
		if err := p.take(chunk[:n], err); err != nil {
			return 0, err
		}
	}
	if len(p.in) == 0 {
		return 0, p.over
	}
	n := copy(b, p.in)
	p.in = p.in[n:]
	return n, nil
}

// take keeps what has come, and answers the server's own questions.
func (p *tcpPort) take(data []byte, err error) error {
	if err != nil {
		p.over = ended(err)
	}
	if p.telnet == nil {
		p.in = append(p.in, data...)
		return nil
	}
	plain, reply := p.telnet.hear(data)
	p.in = append(p.in, plain...)
	if len(reply) == 0 || p.over != nil {
		return nil
	}
	_, err = p.conn.Write(reply)
	return err
}

// Write implements Raw.
func (p *tcpPort) Write(b []byte) (int, error) {
	if p.telnet == nil {
		n, err := p.conn.Write(b)
		return n, ended(err)
	}
	if _, err := p.conn.Write(p.telnet.hide(b)); err != nil {
		return 0, ended(err)
	}
	return len(b), nil
}

// waitingMost bounds what Waiting takes over at once.
const waitingMost = 1 << 16

// Waiting implements Raw: it takes over what has come, without waiting, and notices where the
// other side has closed.
func (p *tcpPort) Waiting() (int, error) {
	var chunk [4096]byte
	for p.over == nil && len(p.in) < waitingMost {
		n, err := 0, error(nil)
		controlErr := p.raw.Control(func(fd uintptr) {
			n, _, err = unix.Recvfrom(int(fd), chunk[:], unix.MSG_DONTWAIT)
		})
		switch {
		case controlErr != nil:
			return len(p.in), controlErr
		case errors.Is(err, unix.EAGAIN):
			return len(p.in), nil
		case errors.Is(err, unix.EINTR):
			continue
		case err == nil && n == 0:
			err = io.EOF
		}
		if err := p.take(chunk[:max(n, 0)], err); err != nil {
			return len(p.in), err
		}
	}
	if len(p.in) == 0 {
		return 0, p.over
	}
	return len(p.in), nil
}

// ResetOutputBuffer implements Raw: a stuck Write ends.
func (p *tcpPort) ResetOutputBuffer() error { return p.conn.SetWriteDeadline(time.Unix(1, 0)) }

// unconfirmed is how many bytes were sent that the other side's network has not confirmed.
func (p *tcpPort) unconfirmed() (n int) {
	err := p.raw.Control(func(fd uintptr) {
		var err error
		if n, err = unix.IoctlGetInt(int(fd), unix.SIOCOUTQ); err != nil {
			n = 1 // to be safe
		}
	})
	if err != nil {
		return 0 // it is closed
	}
	return n
}

// Close implements Raw. What the other side's network has not confirmed is thrown away:
// the kernel would go on sending it, and a command would arrive after later ones that went
// over the next connection.
func (p *tcpPort) Close() error {
	for limit := time.Now().Add(lingering); p.unconfirmed() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			if err := p.conn.SetLinger(0); err != nil && !errors.Is(err, net.ErrClosed) {
				return errors.Join(err, p.conn.Close())
			}
			break
		}
	}
	if err := p.conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}
