package serial

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest"
	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// freeAddress gives HOST:PORT of this computer that nobody listens at.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// overTCP are options whose port is an address of this computer, with answers awaited as long as a
// busy machine may need.
func overTCP(t *testing.T, scheme string, o Options) Options {
	t.Helper()
	o.Port = scheme + "://" + freeAddress(t)
	o.ReplyTimeout, o.ReadTimeout, o.WriteTimeout = 2*time.Second, 5*time.Millisecond, 2*time.Second
	return o
}

// serveNetwork serves a device over the network until the test ends.
func serveNetwork(t *testing.T, p Plant) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, p) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("Serve: %v", err)
		}
	})
	_, address, _ := strings.Cut(p.Options.Port, "://")
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return
		}
	}
	t.Fatal("the plant does not listen")
}

// registersOverTCP describe the counter of fake_test.go as Modbus TCP has it, with a coil.
func registersOverTCP() (Options, []ChannelOptions) {
	o, channels := ovenOptions()
	o.Protocol, o.Address = "modbus-tcp", 255
	channels[0].Write.Verify = &text.Verify{}
	return o, channels
}

// TestNetworkConforms checks the contract over each way through the network.
func TestNetworkConforms(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]struct {
		scheme  string
		options func() (Options, []ChannelOptions)
	}{
		"lines over TCP":     {"tcp", abOptions},
		"lines over RFC2217": {"rfc2217", abOptions},
		"Modbus TCP":         {"tcp", registersOverTCP},
		"RTU over TCP":       {"tcp", ovenOptions},
	} {
		t.Run(name, func(t *testing.T) {
			o, channels := with.options()
			o = overTCP(t, with.scheme, o)
			if o.Protocol == "modbus" {
				o.ReplyTimeout = 150 * time.Millisecond // the silence of each greeting
			}
			serveNetwork(t, Plant{Options: o, Channels: channels, Device: newCounter(), Env: env(t)})
			driverstest.Conform(t, func() drivers.Device {
				dev, err := build(o, channels, env(t))
				if err != nil {
					t.Fatal(err)
				}
				return dev
			})
		})
	}
}

// TestCoil: a coil is set, read back, and read; what is neither 0 nor 1 is refused before it leaves.
func TestCoil(t *testing.T) {
	o, channels := registersOverTCP()
	o = overTCP(t, "tcp", o)
	coil := modbus.Register{Function: 1, Address: 7, Type: "bool"}
	for i, function := range []int{5, 15} {
		write := coil
		write.Function, write.Address = function, 7+i
		read := coil
		read.Address = 7 + i
		channels[i] = ChannelOptions{Channel: channels[i].Channel, ScaleKeys: drivers.ScaleKeys{Safe: ptr(0.0)}, Read: &Read{Register: &read},
			Write: &Write{Register: &write, WriteKeys: text.WriteKeys{Verify: &text.Verify{}}}}
	}
	c := newCounter()
	c.values["b"] = 0
	serveNetwork(t, Plant{Options: o, Channels: channels, Device: c, Env: env(t)})
	dev := openDevice(t, o, channels)
	if a, b := value(t, dev, "a"), value(t, dev, "b"); a != 1 || b != 0 {
		t.Errorf("the coils are %v and %v", a, b)
	}
	r, err := dev.Write(t.Context(), drivers.Setpoints{Values: map[string]float64{"a": 0, "b": 1}})
	if err != nil || r.Values["a"] != 0 || r.Values["b"] != 1 || len(r.Values) != 2 {
		t.Errorf("set to 0 and 1: %v, %v", r.Values, err)
	}
	if err := set(dev, "a", 2); !errors.Is(err, drivers.ErrRefused) {
		t.Errorf("set to 2: %v", err)
	}
}

// talker is your own server: what it says to each connection is up to the test.
type talker struct {
	address string
	mu      sync.Mutex
	conns   []net.Conn
	open    int
	most    int // connections at one time
}

// talk lets a server answer; say is given a connection and its place in the order of all.
func talk(t *testing.T, say func(conn net.Conn, n int)) *talker {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	k := &talker{address: l.Addr().String()}
	var all sync.WaitGroup
	all.Go(func() {
		for n := 0; ; n++ {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			k.mu.Lock()
			k.conns = append(k.conns, conn)
			k.open++
			k.most = max(k.most, k.open)
			k.mu.Unlock()
			all.Go(func() {
				say(conn, n)
				io.Copy(io.Discard, conn) // until the other side ends it
				conn.Close()
				k.mu.Lock()
				k.open--
				k.mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		k.mu.Lock()
		for _, c := range k.conns {
			c.Close()
		}
		k.mu.Unlock()
		all.Wait()
	})
	return k
}

// hears answers over a connection until it ends or until answer says false.
func hears(conn net.Conn, in port.Instrument, answer func(heard string, said []byte) bool) {
	buf := make([]byte, 512)
	for {
		n, err := conn.Read(buf)
		if err != nil {
			return
		}
		said, err := in.Hear(context.Background(), buf[:n])
		if err != nil || !answer(string(buf[:n]), said) {
			return
		}
	}
}

// TestSilentConnectionIsReplaced: where an answer does not come in time, the connection may be
// dead without a sign: the same reading asks again over a new one, there is never more than one,
// and what comes late over the old one is never taken.
func TestSilentConnectionIsReplaced(t *testing.T) {
	t.Parallel()
	o, channels := abOptions()
	o.ReplyTimeout, o.ReadTimeout = 100*time.Millisecond, 5*time.Millisecond
	o.Retries = 10 // a busy machine may be late, too
	c := newCounter()
	served := o // of its own: o gets the address while it is served
	served.Port = "tcp://127.0.0.1:1"
	k := talk(t, func(conn net.Conn, n int) {
		hears(conn, speak(t, served, channels, c), func(heard string, said []byte) bool {
			if n == 0 && strings.Contains(heard, "A?") {
				time.AfterFunc(250*time.Millisecond, func() { conn.Write([]byte("-77\n")) })
				return false
			}
			_, err := conn.Write(said)
			return err == nil
		})
	})
	o.Port = "tcp://" + k.address
	dev := openDevice(t, o, channels)
	for began := time.Now(); time.Since(began) < 500*time.Millisecond; {
		if a, b := value(t, dev, "a"), value(t, dev, "b"); a != 1 || b != 2 {
			t.Fatalf("a is %v, b is %v", a, b)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.conns) < 2 {
		t.Errorf("%d connections were made", len(k.conns))
	}
}

// TestWrongAnswerKeepsTheConnection: an answer that is none is asked for again over the connection on
// which it came, after a greeting.
func TestWrongAnswerKeepsTheConnection(t *testing.T) {
	o, channels := abOptions()
	o.ReplyTimeout, o.ReadTimeout, o.Retries = time.Minute, 5*time.Millisecond, 3
	c := newCounter()
	served := o // of its own: o gets the address while it is served
	served.Port = "tcp://127.0.0.1:1"
	k := talk(t, func(conn net.Conn, _ int) {
		wrong := false
		hears(conn, speak(t, served, channels, c), func(heard string, said []byte) bool {
			if strings.Contains(heard, "A?") && !wrong {
				wrong, said = true, []byte("ready\n")
			}
			_, err := conn.Write(said)
			return err == nil
		})
	})
	o.Port = "tcp://" + k.address
	dev := openDevice(t, o, channels)
	if a := value(t, dev, "a"); a != 1 {
		t.Errorf("a is %v", a)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.conns) != 1 {
		t.Errorf("%d connections were made", len(k.conns))
	}
}

// TestSafeValueOverADoubtfulConnection: a safe value leaves at once over a connection on which an
// answer has not come, and is confirmed over the next.
func TestSafeValueOverADoubtfulConnection(t *testing.T) {
	o, channels := abOptions()
	o.ReplyTimeout, o.ReadTimeout, o.Retries = 300*time.Millisecond, 5*time.Millisecond, 0
	c := newCounter()
	heardAt := make(chan time.Time, 1)
	served := o // of its own: o gets the address while it is served
	served.Port = "tcp://127.0.0.1:1"
	k := talk(t, func(conn net.Conn, n int) {
		mute := false
		hears(conn, speak(t, served, channels, c), func(heard string, said []byte) bool {
			if n == 0 && strings.Contains(heard, "A?") {
				mute = true
			}
			if mute && strings.Contains(heard, "A 0.000") {
				heardAt <- time.Now()
			}
			if !mute {
				conn.Write(said)
			}
			return true
		})
	})
	o.Port = "tcp://" + k.address
	dev := openDevice(t, o, channels)
	if _, err := dev.Read(t.Context(), []string{"a"}); err == nil {
		t.Fatal("a silent instrument was read")
	}
	safe := drivers.Setpoints{Values: map[string]float64{"a": 0}, Safe: true}
	var err error
	for began := time.Now(); ; {
		if _, err = dev.Write(t.Context(), safe); err == nil || time.Since(began) > time.Minute {
			break // a busy machine may be late at the new connection
		}
	}
	if err != nil {
		t.Errorf("the safe value was not confirmed: %v", err)
	}
	select {
	case <-heardAt:
	default:
		t.Error("the old connection did not carry the safe value")
	}
	if got := c.written("a"); len(got) < 2 {
		t.Errorf("it was told %v; once over each connection was due", got)
	}
}

// TestIdleEndCostsNothing: an instrument may end a connection on which nothing happens; the next
// command goes out over a new one, once, without an error.
func TestIdleEndCostsNothing(t *testing.T) {
	o, channels := registersOverTCP()
	o.ReplyTimeout = 5 * time.Second
	c := newCounter()
	ended := make(chan bool, 10)
	served := o // of its own: o gets the address while it is served
	served.Port = "tcp://127.0.0.1:1"
	k := talk(t, func(conn net.Conn, n int) {
		hears(conn, speak(t, served, channels, c), func(heard string, said []byte) bool {
			conn.Write(said)
			if n == 0 {
				conn.Close()
				ended <- true
				return false
			}
			return true
		})
	})
	o.Port = "tcp://" + k.address
	dev := openDevice(t, o, channels) // expect is answered, and the connection ended
	<-ended
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(time.Millisecond) {
		if _, err := dev.link.Port.Waiting(); err != nil {
			break // the end has arrived
		}
	}
	if err := set(dev, "a", 4); err != nil {
		t.Errorf("after an idle end: %v", err)
	}
	if got := c.written("a"); len(got) != 1 || got[0] != 4 {
		t.Errorf("a was told %v", got)
	}
}

// TestNetworkProblems: errors say which address, and what to do.
func TestNetworkProblems(t *testing.T) {
	t.Parallel()
	deaf := talk(t, func(net.Conn, int) {})
	chatty := talk(t, func(conn net.Conn, _ int) { conn.Write([]byte("welcome to this box\r\n")) })
	for name, c := range map[string]struct {
		port string
		want []string
	}{
		"nobody listens":  {"tcp://" + freeAddress(t), []string{"127.0.0.1:", "refused", "socket server"}},
		"no such name":    {"tcp://no-such-host.invalid:5025", []string{"no-such-host.invalid:5025", "IP address"}},
		"no answer":       {"tcp://" + deaf.address, []string{deaf.address, `"ID?"`, "no answer within"}},
		"no RFC 2217":     {"rfc2217://" + deaf.address, []string{deaf.address, "Write tcp://", "no answer in time"}},
		"another service": {"tcp://" + chatty.address, []string{chatty.address, "no answer within"}},
	} {
		t.Run(name, func(t *testing.T) {
			o, channels := abOptions()
			o.Port, o.ReplyTimeout, o.ReadTimeout, o.Retries = c.port, 20*time.Millisecond, 10*time.Millisecond, 0
			dev, err := New(o, channels, env(t))
			if err != nil {
				t.Fatal(err)
			}
			_, err = dev.Open(t.Context())
			if !errors.Is(err, drivers.ErrUnavailable) {
				t.Fatalf("Open: %v", err)
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\ndoes not say %q", err, want)
				}
			}
		})
	}
	for bad, want := range map[string]string{
		"tcp://scope":         "write tcp://HOST:PORT",
		"tcp://scope:0":       `"0" is no port number`,
		"tcp://scope:70000":   `"70000" is no port number`,
		"tcp://a@b:5025":      "no host and port",
		"tcp://:5025":         "no host and port",
		"udp://scope:5025":    `"udp" is no way to a port`,
		"TCPIP0::scope::inst": "does not exist", // a file's name, as it has no ://
	} {
		o, channels := abOptions()
		o.Port = bad
		dev, err := New(o, channels, env(t))
		if err == nil {
			_, err = dev.Open(t.Context())
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v does not say %q", bad, err, want)
		}
	}
	o, channels := ovenOptions()
	for want, change := range map[string]func(){
		`write protocol = "modbus-tcp"`:       func() { o.Port = "tcp://plc:502" },
		"modbus-tcp is spoken over tcp://":    func() { o.Protocol, o.Port = "modbus-tcp", "/dev/ttyUSB0" },
		"on a serial line it is 1 to 247":     func() { o.Protocol, o.Address = "modbus", 0 },
		"verify = { tolerance = 0.1 }":        func() { channels[0].Write.Verify = &text.Verify{Out: "A?"} },
		"coils, of functions 1, 2, 5 and 15,": func() { channels[0].Write.Verify, channels[0].Read.Register.Type = nil, "bool" },
	} {
		before, write, read := o, *channels[0].Write, *channels[0].Read.Register
		change()
		if _, err := New(o, channels, env(t)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
		o, *channels[0].Write, *channels[0].Read.Register = before, write, read
	}
}

// TestUnconfirmedBytesAreThrownAway: what the other side has not taken when a connection is given
// up never arrives after it, whenever the other side goes on.
func TestUnconfirmedBytesAreThrownAway(t *testing.T) {
	t.Parallel()
	got := make(chan int, 1)
	goOn := make(chan bool)
	k := talk(t, func(conn net.Conn, _ int) {
		conn.(*net.TCPConn).SetReadBuffer(4096)
		<-goOn
		n, _ := io.Copy(io.Discard, conn)
		got <- int(n)
	})
	raw, err := port.Open(t.Context(), port.Spec{Path: "tcp://" + k.address, Slice: time.Millisecond, Patience: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	p := port.New(raw)
	sent, chunk := 0, make([]byte, 1<<16)
	for p.Write(chunk, 200*time.Millisecond) == nil { // until the other side's buffers are full
		sent += len(chunk)
	}
	if err := p.Close(time.Second); err != nil {
		t.Errorf("Close: %v", err)
	}
	close(goOn)
	if n := <-got; n >= sent {
		t.Errorf("%d bytes arrived of %d that were taken", n, sent)
	}
}

// TestRFC2217WithPyserial compares with the server of another project, pyserial's PortManager,
// where Python has it: the settings arrive, and bytes pass as they are.
func TestRFC2217WithPyserial(t *testing.T) {
	python := pythonWith(t, "serial.rfc2217")
	o, channels := abOptions()
	pty, err := port.OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	defer pty.Close()
	in := speak(t, o, channels, newCounter())
	go func() {
		buf := make([]byte, 512)
		for {
			n, gone, err := pty.Read(t.Context(), buf)
			if err != nil {
				return
			}
			if gone {
				continue
			}
			said, err := in.Hear(t.Context(), buf[:n])
			if err != nil || pty.Say(said) != nil {
				return
			}
		}
	}()
	o = overTCP(t, "rfc2217", o)
	_, address, _ := strings.Cut(o.Port, "://")
	_, number, _ := strings.Cut(address, ":")
	server := exec.CommandContext(t.Context(), python, "testdata/rfc2217_server.py", pty.Path, number)
	out, err := server.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	server.Stderr = &logWriter{t: t}
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	defer server.Wait()
	defer server.Process.Kill()
	lines := bufio.NewReader(out)
	if line, err := lines.ReadString('\n'); err != nil || line != "ready\n" {
		t.Fatalf("the server says %q, %v", line, err)
	}
	o.ReadTimeout = time.Second   // it passes an answer on byte by byte
	o.Baud, o.StopBits = 57600, 2 // a pseudo-terminal takes no parity
	dev := openDevice(t, o, channels)
	if err := set(dev, "a", -12.5); err != nil {
		t.Error(err)
	}
	if got := value(t, dev, "a"); got != -12.5 {
		t.Errorf("a is %v", got)
	}
	dev.Close()
	if line, err := lines.ReadString('\n'); err != nil || line != "57600 N 2\n" {
		t.Errorf("the line was set to %q, %v", line, err)
	}
}

// pythonWith finds a Python that has a module, or skips the test.
func pythonWith(t *testing.T, module string) string {
	t.Helper()
	if *pythonFlag == "" {
		t.Skip("no -python, an interpreter that has " + module)
	}
	if out, err := exec.Command(*pythonFlag, "-c", "import "+module).CombinedOutput(); err != nil {
		t.Fatalf("%s has no %s: %v\n%s", *pythonFlag, module, err, out)
	}
	return *pythonFlag
}
