package simulator

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/labtuner/tuner/drivers/driverstest/broker"
)

// line is the network between one side (a process of tuner, or the instrument) and
// the broker. What is sent takes a while; a line that swallows keeps what is sent,
// as a network's buffers do, and delivers it late; one that is cut breaks its
// connections and takes no new ones. Methods may be called from any goroutine.
type line struct {
	broker *broker.Virtual
	// carriers end when what they carry between is closed.
	carriers sync.WaitGroup

	mu    sync.Mutex
	seed  uint64        // of the latencies
	slow  time.Duration // added to the latency at most
	shut  chan struct{} // closed when what was swallowed goes on; nil while it flows
	cut   bool
	hang  bool // new connections are taken, and nobody answers
	pipes []net.Conn
	ways  uint64 // of its connections, each there and back
}

// What a message takes on its way. Never nothing: on a network two things do not
// happen at one instant, and then their order is the seed's and not the scheduler's.
const (
	latencyLeast = time.Millisecond
	latencyMost  = 20 * time.Millisecond
)

func newLine(b *broker.Virtual, seed, stream uint64) *line {
	return &line{broker: b, seed: newRand(seed, stream).Uint64()}
}

var errCut = errors.New("network unreachable, as the simulation wants it")

// dial is the transport of the client library.
func (l *line) dial(ctx context.Context, u *url.URL) (net.Conn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.cut {
		return nil, errCut
	}
	near, mine := net.Pipe()
	l.pipes = append(l.pipes, near, mine)
	if l.hang {
		return near, nil
	}
	far, err := l.broker.Dial(ctx, u)
	if err != nil {
		return nil, err
	}
	l.pipes = append(l.pipes, far)
	l.ways += 2
	there, back := l.ways, l.ways+1
	l.carriers.Go(func() { l.carry(mine, far, there) })
	l.carriers.Go(func() { l.carry(far, mine, back) })
	return near, nil
}

// packet is what was written at once, and when it arrives.
type packet struct {
	bytes []byte
	at    time.Time
}

// carry brings what one end sends to the other, in order. It returns when either
// end is closed, and closes the other.
func (l *line) carry(from, to net.Conn, way uint64) {
	under := make(chan packet, 1024)
	go func() {
		defer close(under)
		buffer, last := make([]byte, 64<<10), time.Time{}
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			at := time.Now().Add(l.latency(way))
			if !at.After(last) {
				at = last.Add(1)
			}
			last = at
			under <- packet{append([]byte(nil), buffer[:n]...), at}
		}
	}()
	for p := range under {
		time.Sleep(time.Until(p.at))
		if shut := l.swallowing(); shut != nil {
			<-shut
			time.Sleep(l.latency(way)) // what was kept on several ways does not come at one instant
		}
		if _, err := to.Write(p.bytes); err != nil {
			break
		}
	}
	to.Close()
	from.Close()
	for range under { // until the reader has noticed
	}
}

// latency of what is sent now: all that is sent at one instant takes as long, so that
// nothing depends on which of it is first.
func (l *line) latency(way uint64) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	rng := newRand(l.seed+way, uint64(time.Now().UnixNano()))
	return latencyLeast + time.Duration(rng.Int64N(int64(latencyMost-latencyLeast+l.slow)))
}

func (l *line) swallowing() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.shut
}

// delay makes the line slower by up to d.
func (l *line) delay(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slow = d
}

// swallow keeps what is sent until flow.
func (l *line) swallow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut == nil {
		l.shut = make(chan struct{})
	}
}

// flow delivers what was kept.
func (l *line) flow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.shut != nil {
		close(l.shut)
		l.shut = nil
	}
}

// breaks ends every connection; hang says that new ones are taken and never
// answered, else they are refused.
func (l *line) breaks(hang bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut, l.hang = !hang, hang
	l.drop()
}

// mend lets new connections through.
func (l *line) mend() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.hang {
		l.drop()
	}
	l.cut, l.hang = false, false
}

// end breaks the line for good, as the death of a process does.
func (l *line) end() {
	l.flow()
	l.breaks(false)
}

func (l *line) drop() {
	for _, p := range l.pipes {
		p.Close()
	}
	l.pipes = nil
}
