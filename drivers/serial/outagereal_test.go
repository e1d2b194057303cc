package serial

import (
	"context"
	"math/rand/v2"
	"net"
	"runtime"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/scripts/testsize"
)

// TestRealOutages makes outages of real connections, through a proxy, with the driver's own port
// and the plant's. The nightly size:
//
//	go test ./drivers/serial -run TestRealOutages -v -realoutages 500 -seed 7 -timeout 2h
func TestRealOutages(t *testing.T) {
	for _, protocol := range []string{"line", "modbus-tcp", "modbus"} {
		t.Run(protocol, func(t *testing.T) {
			if protocol == "modbus" {
				testsize.Only(t) // the frames of a serial line, over the network
			}
			random := seeded(t)
			goroutines, files := runtime.NumGoroutine(), porttest.OpenFiles(t)
			o, channels := outageOptions(protocol)
			o.ReplyTimeout, o.ReadTimeout = 100*time.Millisecond, 10*time.Millisecond
			o.ReconnectMin, o.ReconnectMax = time.Millisecond, 50*time.Millisecond
			in := newNoted()
			served := o // of its own: o gets the proxy's address while it is served
			served.Port = "tcp://127.0.0.1:1"
			s := &realServer{in: func() port.Instrument { return speak(t, served, channels, in) }}
			s.start(t)
			p := &proxy{t: t, rng: rand.New(rand.NewPCG(random.Uint64(), 5)), to: s.l.Addr().String(), reply: o.ReplyTimeout}
			p.listen("127.0.0.1:0")
			o.Port = "tcp://" + p.address
			c := newOutageCampaign(t, random, o, channels, in, p)
			c.recovery = time.Minute
			c.run(*realOutages, 200*time.Millisecond, 400*time.Millisecond)
			if err := c.dev.Close(); err != nil {
				t.Error(err)
			}
			p.close()
			s.l.Close()
			s.all.Wait()
			c.judge()
			porttest.NoLeaks(t, goroutines, files)
		})
	}
}

// realServer is an instrument that takes any number of connections, and does one thing at a time.
type realServer struct {
	in  func() port.Instrument
	l   net.Listener
	mu  sync.Mutex
	all sync.WaitGroup
}

func (s *realServer) start(t *testing.T) {
	t.Helper()
	var err error
	if s.l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	s.all.Go(func() {
		for {
			conn, err := s.l.Accept()
			if err != nil {
				return
			}
			in := s.in()
			s.all.Go(func() {
				defer conn.Close()
				buf := make([]byte, 512)
				for {
					n, err := conn.Read(buf)
					if err != nil {
						return
					}
					s.mu.Lock()
					said, err := in.Hear(context.Background(), buf[:n])
					s.mu.Unlock()
					if err != nil {
						return
					}
					if _, err := conn.Write(said); err != nil {
						return
					}
				}
			})
		}
	})
}

// proxy stands between the driver and the instrument, and can fail.
type proxy struct {
	t       *testing.T
	rng     *rand.Rand
	to      string
	address string
	reply   time.Duration
	all     sync.WaitGroup

	mu    sync.Mutex
	l     net.Listener
	state outageKind
	down  bool
	// healed is closed when the present outage ends.
	healed chan struct{}
	pairs  map[*pair]bool
}

// pair is a connection of the driver's with the one to the instrument that it leads to.
type pair struct {
	near, far *net.TCPConn
	forgotten bool
	ended     chan struct{}
	once      sync.Once
}

// end closes both sides; cut says that what is under way is thrown away.
func (p *pair) end(cut bool) {
	p.once.Do(func() {
		for _, c := range []*net.TCPConn{p.near, p.far} {
			if c == nil {
				continue
			}
			if cut {
				c.SetLinger(0)
			}
			c.Close()
		}
		close(p.ended)
	})
}

func (p *proxy) listen(address string) {
	p.t.Helper()
	var l net.Listener
	var err error
	for limit := time.Now().Add(time.Minute); time.Now().Before(limit); time.Sleep(time.Millisecond) {
		if l, err = net.Listen("tcp", address); err == nil {
			break
		}
	}
	if err != nil {
		p.t.Fatal(err)
	}
	p.mu.Lock()
	p.l, p.address = l, l.Addr().String()
	if p.pairs == nil {
		p.pairs = map[*pair]bool{}
	}
	p.mu.Unlock()
	p.all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			p.all.Go(func() { p.carry(conn.(*net.TCPConn)) })
		}
	})
}

// carry serves one connection of the driver.
func (p *proxy) carry(near *net.TCPConn) {
	both := &pair{near: near, ended: make(chan struct{})}
	defer both.end(false)
	p.mu.Lock()
	p.pairs[both] = true
	hang := p.down && p.state == netHang
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.pairs, both)
		p.mu.Unlock()
	}()
	if hang { // taken, and never answered
		<-both.ended
		return
	}
	far, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	p.mu.Lock()
	both.far = far.(*net.TCPConn)
	p.mu.Unlock()
	p.all.Go(func() { p.pump(both, both.far, near, true) })
	p.pump(both, near, both.far, false)
}

// pump passes on what comes from one side to the other, as the state of the network allows.
func (p *proxy) pump(both *pair, from, to *net.TCPConn, answers bool) {
	defer both.end(false)
	buf := make([]byte, 512)
	for {
		n, err := from.Read(buf)
		if err != nil {
			return
		}
		if !p.passes(both, answers) {
			continue // forgotten: it is lost
		}
		data := buf[:n]
		p.mu.Lock()
		drips := p.down && p.state == netDrips && n > 1
		at := n
		if drips {
			at = 1 + p.rng.IntN(n-1)
		}
		p.mu.Unlock()
		if _, err := to.Write(data[:at]); err != nil {
			return
		}
		if at < n {
			time.Sleep(time.Millisecond)
			if _, err := to.Write(data[at:]); err != nil {
				return
			}
		}
	}
}

// passes waits until something may pass; false: it never does. What is held while nothing passes
// goes with its connection.
func (p *proxy) passes(both *pair, answer bool) bool {
	for {
		p.mu.Lock()
		forgotten := both.forgotten
		hole := p.down && p.state == netHole
		late := time.Duration(0)
		if p.down && p.state == netSlow && answer {
			late = time.Duration(p.rng.Int64N(int64(3 * p.reply)))
		}
		healed := p.healed
		p.mu.Unlock()
		switch {
		case forgotten:
			return false
		case hole:
			gone := make(chan struct{})
			go p.watch(both, gone)
			select {
			case <-healed:
			case <-both.ended:
				return false
			case <-gone:
				both.end(true)
				return false
			}
		default:
			time.Sleep(late)
			return true
		}
	}
}

// watch closes gone when the driver has given the connection up, or the outage is over.
func (p *proxy) watch(both *pair, gone chan struct{}) {
	p.mu.Lock()
	healed := p.healed
	p.mu.Unlock()
	raw, err := both.near.SyscallConn()
	if err != nil {
		close(gone)
		return
	}
	for {
		select {
		case <-healed:
			return
		case <-both.ended:
			return
		case <-time.After(time.Millisecond):
		}
		if endOf(raw) {
			close(gone)
			return
		}
	}
}

func (p *proxy) strike(kind outageKind) {
	p.mu.Lock()
	p.down, p.state, p.healed = true, kind, make(chan struct{})
	l := p.l
	var all []*pair
	for both := range p.pairs {
		all = append(all, both)
		both.forgotten = both.forgotten || kind == netForget
	}
	p.mu.Unlock()
	if kind == netCut {
		l.Close()
	}
	if kind == netCut || kind == netHang {
		for _, both := range all {
			both.end(true)
		}
	}
}

func (p *proxy) heal() {
	p.mu.Lock()
	kind := p.state
	p.down = false
	close(p.healed)
	var hung []*pair
	for both := range p.pairs {
		if kind == netHang && both.far == nil {
			hung = append(hung, both)
		}
	}
	p.mu.Unlock()
	for _, both := range hung {
		both.end(true)
	}
	if kind == netCut {
		p.listen(p.address)
	}
}

// close ends everything.
func (p *proxy) close() {
	p.mu.Lock()
	p.l.Close()
	var all []*pair
	for both := range p.pairs {
		all = append(all, both)
	}
	p.mu.Unlock()
	for _, both := range all {
		both.end(true)
	}
	p.all.Wait()
}

// endOf says that the other side of a connection has ended it.
func endOf(raw syscall.RawConn) bool {
	const established = 1 // tcpi_state, TCP_ESTABLISHED
	ended := false
	err := raw.Control(func(fd uintptr) {
		info, err := unix.GetsockoptTCPInfo(int(fd), unix.IPPROTO_TCP, unix.TCP_INFO)
		ended = err != nil || info.State != established
	})
	return err != nil || ended
}
