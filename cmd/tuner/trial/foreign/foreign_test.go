package foreign

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math"
	"math/big"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/trial"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/scripts/testsize"
)

// pythonVariable names the interpreter that has the packages.
const pythonVariable = "TUNER_FOREIGN_PYTHON"

// patience is for what comes soon unless something is wrong, on any machine.
const patience = 3 * time.Minute

// best is where every instrument's knob is best; how near a run must come is judged by what the
// objective loses there: 10 - (x-3)^2 loses 0.1 at 0.32.
const best, near = 3.0, 0.32

// instrument is one by others, and how tuner reaches it.
type instrument struct {
	name      string
	simulator string // of simulators.py; "": the child has it in itself
	env       func(port string) []string
	link      string // how it is reached, where not at a port of its own: see cable and withBroker
	unit      string
	objective string
	device    func(python, port string) string
}

// The links of instruments: cable is a pseudo-terminal to the port, withBroker a broker that the instrument and tuner connect to.
const (
	cable      = "cable"
	withBroker = "broker"
)

const computed = `sensor = "energy"`

// formula is the objective of an instrument that can only keep its knob.
const formula = `formula = "10 - (knob - 3)^2"`

// epics keeps channel access on this computer and at a port of the test's own.
func epics(port string) []string {
	return []string{"EPICS_CA_ADDR_LIST=127.0.0.1", "EPICS_CA_AUTO_ADDR_LIST=NO", "EPICS_CA_SERVER_PORT=" + port, "EPICS_CAS_SERVER_PORT=" + port,
		"EPICS_CAS_INTF_ADDR_LIST=127.0.0.1", "EPICS_CAS_BEACON_ADDR_LIST=127.0.0.1", "EPICS_CAS_AUTO_BEACON_ADDR_LIST=NO", "EPICS_CA_REPEATER_PORT=" + next(port),
		"EPICS_PVAS_INTF_ADDR_LIST=127.0.0.1", "EPICS_PVAS_SERVER_PORT=0", "EPICS_PVAS_BROADCAST_PORT=" + next(port)}
}

// next is the port after another.
func next(port string) string {
	n, _ := strconv.Atoi(port)
	return strconv.Itoa(n + 1)
}

// child is an exec device of one of the examples.
func child(python, script string, args ...string) string {
	words := []string{strconv.Quote(python), strconv.Quote(script)}
	for _, a := range args {
		words = append(words, strconv.Quote(a))
	}
	return "driver = \"exec\"\nstart_timeout = \"2m\"\nreply_timeout = \"2s\"\nexit_timeout = \"20s\"\ncommand = [" + strings.Join(words, ", ") + "]\n"
}

// example is a file of the exec driver's examples.
func example(parts ...string) string {
	path, err := filepath.Abs(filepath.Join(append([]string{"..", "..", "..", "..", "drivers", "exec", "examples"}, parts...)...))
	if err != nil {
		panic(err)
	}
	return path
}

var instruments = []instrument{
	{name: "asyncua", simulator: "opcua", unit: "A", objective: computed, device: func(_, port string) string {
		return `driver = "opcua"
endpoint = "opc.tcp://127.0.0.1:` + port + `/lab"
poll = "100ms"
[device.channel.energy]
read = { node = "ns=2;s=energy" }
unit = "mJ"
[device.channel.knob]
read = { node = "ns=2;s=current" }
write = { node = "ns=2;s=current" }
`
	}},
	{name: "softioc", simulator: "softioc", env: epics, unit: "A", objective: computed, device: func(python, _ string) string {
		return child(python, example("ophyd", "signals.py"), "--output", "knob | LASER:CURRENT | | safe=0", "--sensor", "energy | LASER:ENERGY")
	}},
	{name: "caproto", simulator: "caproto", env: epics, unit: "A", objective: computed, device: func(python, _ string) string {
		return child(python, example("ophyd", "signals.py"), "--output", "knob | LASER:CURRENT | | safe=0", "--sensor", "energy | LASER:ENERGY")
	}},
	{name: "pytango", simulator: "tango", unit: "A", objective: computed, device: func(python, port string) string {
		at := "tango://127.0.0.1:" + port + "/test/nodb/laser/"
		return child(python, example("ophyd", "signals.py"), "--output", "knob | "+at+"current#dbase=no | | safe=0", "--sensor", "energy | "+at+"energy#dbase=no")
	}},
	{name: "pyvisa-sim", unit: "V", objective: formula, device: func(python, _ string) string {
		return child(python, example("pyvisa", "visa.py"), "--backend", example("pyvisa", "supply.yaml")+"@sim", "--resource", "TCPIP0::127.0.0.1::inst0::INSTR",
			"--output", "knob | V | VOLT {:.4f} | VOLT? | min=0 max=6 safe=0")
	}},
	{name: "pymodbus", simulator: "modbus", unit: "1", objective: formula, device: func(_, port string) string {
		return register("modbus-tcp", "tcp://127.0.0.1:"+port)
	}},
	{name: "lewis", simulator: "lewis", unit: "mm", objective: formula, device: func(_, port string) string { return motor("tcp://127.0.0.1:" + port) }},
	{name: "lewis on a cable", simulator: "lewis", link: cable, unit: "mm", objective: formula, device: func(_, port string) string { return motor(port) }},
	{name: "pymodbus on a cable", simulator: "modbus_rtu", link: cable, unit: "1", objective: formula, device: func(_, port string) string { return register("modbus", port) }},
	{name: "ha-mqtt-discoverable", simulator: "discoverable", link: withBroker, unit: "1", objective: computed, device: func(_, port string) string {
		return `driver = "mqtt"
broker = "tcp://127.0.0.1:` + port + `"
[device.channel.energy]
unit = "mJ"
read = { topic = "hmd/sensor/energy/state" }
[device.channel.knob]
min = 0.0
max = 8.0
safe = 0.0
read = { topic = "hmd/sensor/knob_is/state" }
write = { topic = "hmd/number/knob/command", template = "%.3f" }
`
	}},
}

// motor is lewis' motor on a line.
func motor(port string) string {
	return `driver = "serial"
port = "` + port + `"
terminator = "\r\n"
spoil = ""
identify = { out = "S?", match = "^(idle|moving)$" }
[device.channel.knob]
unit = "mm"
min = 0.0
max = 8.0
safe = 0.0
read = { out = "P?", in = "%f" }
write = { out = "T=%.3f", ack = "^T=", idempotent = true }
`
}

// register is the knob in a register of pymodbus' server.
func register(protocol, port string) string {
	return `driver = "serial"
protocol = "` + protocol + `"
port = "` + port + `"
address = 17
[device.channel.knob]
scale = 0.01
min = 0.0
max = 8.0
safe = 0.0
read = { register = { function = 3, address = 10, type = "uint16" } }
write = { register = { function = 16, address = 10, type = "uint16" }, idempotent = true }
`
}

// file is a whole configuration for an instrument.
func (i instrument) file(python, port string) string {
	sensors := ""
	if i.objective == computed {
		sensors = "[[sensor]]\nname = \"energy\"\nunit = \"mJ\"\ndevice = \"bench\"\nchannel = \"energy\"\nrange = [-100.0, 100.0]\nmax_age = \"5s\"\n"
	} else {
		sensors = "[[sensor]]\nname = \"knob\"\nunit = \"" + i.unit + "\"\ndevice = \"bench\"\nchannel = \"knob\"\nrange = [-1.0, 10.0]\nmax_age = \"5s\"\n"
	}
	return fmt.Sprintf(`schema = 1
name = "foreign-%s"
[objective]
%s
shots = 1
[[variable]]
name = "setting"
unit = "%s"
range = [0.0, 6.0]
start = 1.0
device = "bench"
channel = "knob"
readback = { tolerance = 0.02, timeout = "60s" }
settle = "500ms"
[safety.variable.setting]
hard = [0.0, 6.0]
slew = 1000.0
safe = 0.0
[policy]
kind = "gp-ucb"
[stop]
steps = %d
%s
[[device]]
name = "bench"
%s`, strings.ReplaceAll(i.name, " ", "-"), i.objective, i.unit, 14, sensors, i.device(python, port))
}

// python is the interpreter with the packages.
func python(t *testing.T) string {
	t.Helper()
	testsize.Only(t)
	path := os.Getenv(pythonVariable)
	if path == "" {
		t.Skipf("NOT RUN: %s names no Python that has the packages of requirements.txt; .ci/run makes one where it can have them", pythonVariable)
	}
	return path
}

// start starts a simulator and waits until it is ready.
func start(t *testing.T, python, name, port string, env []string, keys ...string) {
	t.Helper()
	cmd := exec.Command(python, append([]string{filepath.Join("testdata", "simulators.py"), name, port}, keys...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // some have processes of their own
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	said := &bytes.Buffer{}
	cmd.Stderr = said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan bool, 1)
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if lines.Text() == "ready" {
				ready <- true
			}
		}
		ready <- false
	}()
	t.Cleanup(func() {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait()
	})
	select {
	case ok := <-ready:
		if !ok {
			_ = cmd.Wait()
			t.Fatalf("the simulator ended: %s", said)
		}
	case <-time.After(patience):
		t.Fatalf("the simulator is not ready after %v", patience)
	}
}

// Every instrument is tuned to where it is best.
func TestTunedToTheirBest(t *testing.T) {
	python := python(t)
	for _, i := range instruments {
		t.Run(i.name, func(t *testing.T) {
			t.Parallel() // each waits for programs of its own
			at := trial.FreePort(t)
			if i.link == withBroker {
				u, err := url.Parse(broker.Start(t).URL)
				if err != nil {
					t.Fatal(err)
				}
				at = u.Port()
			}
			var env []string
			if i.env != nil {
				env = i.env(at)
			}
			if i.simulator != "" {
				start(t, python, i.simulator, at, env)
			}
			if i.link == cable {
				at = plug(t, "127.0.0.1:"+at)
			}
			tune(t, "setting", i.file(python, at), env)
		})
	}
}

// plug makes a pseudo-terminal that is the cable to an instrument at an address, and gives its path.
func plug(t *testing.T, address string) string {
	t.Helper()
	pty, err := port.OpenPTY()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cable")
	if err := pty.Link(path); err != nil {
		t.Fatal(err)
	}
	var far net.Conn
	for began := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		if far, err = net.Dial("tcp", address); err == nil {
			break
		}
		if time.Since(began) > patience {
			t.Fatal(err)
		}
	}
	var both sync.WaitGroup
	both.Go(func() {
		buf := make([]byte, 512)
		for {
			n, _, err := pty.Read(t.Context(), buf)
			if err != nil {
				return
			}
			if _, err := far.Write(buf[:n]); err != nil {
				return
			}
		}
	})
	both.Go(func() {
		buf := make([]byte, 512)
		for {
			n, err := far.Read(buf)
			if err != nil || pty.Say(buf[:n]) != nil {
				return
			}
		}
	})
	t.Cleanup(func() {
		far.Close()
		pty.Close()
		both.Wait()
	})
	return path
}

// tune runs a file and checks where a variable ends.
func tune(t *testing.T, variable, file string, env []string) {
	t.Helper()
	tuneIn(t, t.TempDir(), variable, file, env)
}

// tuneIn is tune in a folder.
func tuneIn(t *testing.T, dir, variable, file string, env []string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "foreign.toml"), []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"check", "--probe", "foreign.toml"}, {"run", "foreign.toml"}} {
		cmd := trial.Command(t, dir, command...)
		cmd.Env = append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tuner %s: %v\n%s", strings.Join(command, " "), err, out)
		}
		if command[0] != "run" {
			continue
		}
		found := regexp.MustCompile(`(?m)^\s+` + variable + `\s+(\S+)`).FindSubmatch(out)
		if found == nil {
			t.Fatalf("no recommended setting:\n%s", out)
		}
		at, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil || math.Abs(at-best) > near {
			t.Errorf("tuned to %s, the best is at %v:\n%s", found[1], best, out)
		}
		t.Logf("tuned to %v; the best is at %v", at, best)
	}
}

// The example of a supply is tuned as it stands, in a copy of its folder; a new user has no more than that. Only its
// start is given longer: beside other tests the imports of a new Python have taken more than ten seconds.
func TestSupplyExample(t *testing.T) {
	python, dir := python(t), t.TempDir()
	file := trial.ReadFile(t, example("pyvisa", "supply.toml"))
	if n := strings.Count(file, "\n"); n > 20 {
		t.Errorf("it has %d lines, more than 20", n)
	}
	for _, name := range []string{filepath.Join("pyvisa", "visa.py"), filepath.Join("pyvisa", "supply.yaml"), "tuner_exec.py"} {
		if err := os.WriteFile(filepath.Join(dir, filepath.Base(name)), []byte(trial.ReadFile(t, example(name))), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, change := range [][2]string{{`"python3"`, strconv.Quote(python)}, {`driver = "exec"`, `driver = "exec", start_timeout = "2m"`}} {
		if strings.Count(file, change[0]) != 1 {
			t.Fatalf("the example does not say %s once:\n%s", change[0], file)
		}
		file = strings.Replace(file, change[0], change[1], 1)
	}
	tuneIn(t, dir, "voltage", file, nil)
}

// The OPC UA driver over an encrypted connection, signed and with a user's name, to a server by others.
func TestEncryptedOPCUA(t *testing.T) {
	python, dir := python(t), t.TempDir()
	server, me := certificate(t, dir, "server"), certificate(t, dir, "tuner")
	port := trial.FreePort(t)
	start(t, python, "opcua", port, nil, "cert="+server+".der", "key="+server+".key")
	if err := os.WriteFile(filepath.Join(dir, "password"), []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"sign_and_encrypt", "sign"} {
		i := instruments[0]
		keys := fmt.Sprintf("security = \"Basic256Sha256\"\nmode = %q\nserver_cert_file = %q\ncert_file = %q\nkey_file = %q\nusername = \"anna\"\npassword_file = %q\npoll = ",
			mode, server+".der", me+".der", me+".key", filepath.Join(dir, "password"))
		tune(t, "setting", strings.Replace(i.file(python, port), "poll = ", keys, 1), nil)
	}
}

// certificate writes NAME.der and NAME.key, and gives the path without the end.
func certificate(t *testing.T, dir, name string) string {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		URIs: []*url.URL{{Scheme: "urn", Opaque: "lab:" + name}}, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment | x509.KeyUsageKeyEncipherment | x509.KeyUsageDataEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	for end, text := range map[string][]byte{".der": der, ".key": pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)})} {
		if err := os.WriteFile(path+end, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}
