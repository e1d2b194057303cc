// Command fleetcost measures what several tuners on one broker cost: memory and processor time
// of each, and the messages that the broker passes on. Each tunes a simulated laser in real
// time and publishes status, state, telemetry and events; the broker is Mosquitto.
//
//	go run ./scripts/fleetcost [-tuners 1,4,16] [-time 30s]
package main

import (
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	paho "github.com/eclipse/paho.mqtt.golang"
)

func main() {
	sizes := flag.String("tuners", "1,4,16", "how many tuners, one measurement each")
	long := flag.Duration("time", 30*time.Second, "how long each measurement takes")
	flag.Parse()
	if err := measure(strings.Split(*sizes, ","), *long); err != nil {
		fmt.Fprintln(os.Stderr, "fleetcost:", err)
		os.Exit(1)
	}
}

func measure(sizes []string, long time.Duration) (err error) {
	dir, err := os.MkdirTemp("", "fleetcost")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	tuner := filepath.Join(dir, "tuner")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", tuner, "./cmd/tuner")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return err
	}
	fmt.Printf("%-7s %17s %22s %24s %20s\n", "tuners", "resident MB each", "CPU each, % of a core", "messages/s to one reader", "Mosquitto CPU, %")
	for _, text := range sizes {
		n, err := strconv.Atoi(text)
		if err != nil {
			return err
		}
		f := fleet{dir: filepath.Join(dir, text), tuner: tuner, long: long}
		if err := f.run(n); err != nil {
			return fmt.Errorf("%d tuners: %w", n, err)
		}
	}
	return nil
}

// fleet is one measurement.
type fleet struct {
	dir, tuner string
	long       time.Duration
}

func (f *fleet) run(n int) error {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return err
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	address := free.Addr().String()
	if err := free.Close(); err != nil {
		return err
	}
	broker, err := f.mosquitto(address)
	if err != nil {
		return err
	}
	defer stop(broker)
	var heard atomic.Int64
	reader, err := listen(address, &heard)
	if err != nil {
		return err
	}
	defer reader.Disconnect(100)
	var all []*exec.Cmd
	defer func() { stop(all...) }()
	for i := range n {
		cmd, err := f.start(fmt.Sprintf("laser%d", i), address)
		if err != nil {
			return err
		}
		all = append(all, cmd)
	}
	time.Sleep(5 * time.Second) // all have begun
	before, brokerBefore, heardBefore := 0.0, processor(broker), heard.Load()
	for _, c := range all {
		before += processor(c)
	}
	time.Sleep(f.long)
	seconds, resident, after := f.long.Seconds(), 0.0, 0.0
	for _, c := range all {
		resident += memory(c) / float64(n)
		after += processor(c)
	}
	fmt.Printf("%-7d %17.1f %22.2f %24.1f %20.2f\n", n, resident, 100*(after-before)/seconds/float64(n),
		float64(heard.Load()-heardBefore)/seconds, 100*(processor(broker)-brokerBefore)/seconds)
	return nil
}

// mosquitto starts a broker and waits until it answers.
func (f *fleet) mosquitto(address string) (*exec.Cmd, error) {
	_, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(f.dir, "mosquitto.conf")
	if err := os.WriteFile(file, []byte("listener "+port+" 127.0.0.1\nallow_anonymous true\n"), 0o600); err != nil {
		return nil, err
	}
	path, err := exec.LookPath("mosquitto")
	if err != nil {
		path = "/usr/sbin/mosquitto" // Debian keeps it out of a user's path
	}
	cmd := exec.Command(path, "-c", file)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		if c, err := net.Dial("tcp", address); err == nil {
			return cmd, c.Close()
		}
		time.Sleep(50 * time.Millisecond)
	}
	return cmd, errors.New("mosquitto does not answer")
}

// listen counts what the tuners publish.
func listen(address string, heard *atomic.Int64) (paho.Client, error) {
	c := paho.NewClient(paho.NewClientOptions().AddBroker("tcp://" + address).SetClientID("reader"))
	if token := c.Connect(); token.Wait() && token.Error() != nil {
		return nil, token.Error()
	}
	token := c.Subscribe("tuner/#", 0, func(paho.Client, paho.Message) { heard.Add(1) })
	token.Wait()
	return c, token.Error()
}

func (f *fleet) start(name, broker string) (*exec.Cmd, error) {
	file := filepath.Join(f.dir, name+".toml")
	if err := os.WriteFile(file, []byte(config(name, broker)), 0o600); err != nil {
		return nil, err
	}
	cmd := exec.Command(f.tuner, "run", "--resume", "run", file)
	cmd.Dir = f.dir
	return cmd, cmd.Start()
}

// stop ends processes and waits for them.
func stop(all ...*exec.Cmd) {
	for _, c := range all {
		if err := c.Process.Signal(syscall.SIGTERM); err != nil {
			fmt.Fprintln(os.Stderr, "fleetcost:", err)
		}
	}
	for _, c := range all {
		_ = c.Wait() // a tuner that is interrupted ends with 130
	}
}

// processor is the time that a process has used, in seconds; /proc counts hundredths.
func processor(c *exec.Cmd) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	user, _ := strconv.ParseFloat(fields[11], 64)
	system, _ := strconv.ParseFloat(fields[12], 64)
	return (user + system) / 100
}

// memory is what a process has resident, in MB (10^6 bytes).
func memory(c *exec.Cmd) float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", c.Process.Pid))
	if err != nil {
		return 0
	}
	pages, _ := strconv.ParseFloat(strings.Fields(string(text))[1], 64)
	return pages * float64(os.Getpagesize()) / 1e6
}

// config is a laser of two variables at ten pulses a second.
func config(name, broker string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `schema = 1
name = %q
site = "bench"
[plant]
kind = "laser"
[objective]
sensor = "energy"
shots = 5
[[sensor]]
name = "energy"
unit = "mJ"
device = "bench"
channel = "energy"
range = [0.0, 20.0]
max_age = "1s"
[policy]
kind = "rahbo"
risk = 0.1
initial = { design = "sobol", steps = 4 }
[stop]
steps = 100000
[mqtt]
broker = "tcp://%s"
`, name, broker)
	for _, v := range []string{"x", "y"} {
		fmt.Fprintf(&b, `[[variable]]
name = %q
unit = "V"
range = [0.0, 1.0]
start = 0.5
device = "bench"
channel = %[1]q
readback = { tolerance = 0.05, timeout = "10s" }
[safety.variable.%[1]s]
hard = [0.0, 1.0]
slew = 20.0
safe = 0.25
`, v)
	}
	b.WriteString("[[device]]\nname = \"bench\"\ndriver = \"sim\"\n")
	return b.String()
}
