package serial

import (
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/labtuner/tuner/drivers/serial/modbus"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// Options are the keys of a [[device]] with driver = "serial".
type Options struct {
	Profile  string `toml:"profile" doc:"a ready description to start from; the keys that are written replace its keys"`
	Protocol string `toml:"protocol" enum:"line,ezo,modbus,modbus-tcp" doc:"lines of text; Atlas Scientific's; Modbus RTU; Modbus TCP"`

	port.Settings
	OpenDelay time.Duration `toml:"open_delay" bound:">= 0s, <= 1m" doc:"wait after opening, for a board that restarts then"`
	protocol.Timing
	HaltTimeout  time.Duration `toml:"halt_timeout" bound:"> 0s, <= 1h" doc:"longest wait for readings to confirm the safe values"`
	ReconnectMin time.Duration `toml:"reconnect_min" bound:"> 0s, <= 1h" doc:"wait before the second attempt to reconnect; it doubles from there"`
	ReconnectMax time.Duration `toml:"reconnect_max" bound:"> 0s, <= 1h" doc:"longest wait between two attempts to connect again"`

	text.Dialect
	modbus.Station

	// Base is the folder that a relative Port starts at.
	Base string `toml:"-"`
	// Open opens the port; nil: [port.Open].
	Open port.Opener `toml:"-"`
}

// Default returns the options that a file need not write.
func Default() Options {
	return Options{
		Protocol: "line",
		Settings: port.Settings{Baud: 9600, DataBits: 8, Parity: "none", StopBits: 1, DTR: "on", RTS: "on"},
		Timing: protocol.Timing{
			ReplyTimeout: time.Second,
			ReadTimeout:  100 * time.Millisecond,
			// A short command only goes to the kernel's buffer, unless flow control holds
			// it; a busy machine may be late.
			WriteTimeout: 500 * time.Millisecond,
			Retries:      2,
		},
		HaltTimeout:  10 * time.Second,
		ReconnectMin: 250 * time.Millisecond,
		ReconnectMax: 10 * time.Second,
		Dialect:      text.Dialect{MaxLine: 1024},
		Station:      modbus.Station{Address: 1},
	}
}

// filled returns the options with everything that has a default set.
func (o Options) filled() Options {
	o.Dialect = o.Dialect.Filled(o.coded())
	if o.Open == nil {
		o.Open = port.Open
	}
	return o
}

// registers says that the instrument keeps its values in registers.
func (o Options) registers() bool { return o.Protocol == "modbus" || o.Protocol == "modbus-tcp" }

// coded says that answers end with a code.
func (o Options) coded() bool { return o.Protocol == "ezo" }

// Path is the port's device file, from Base on where Port is relative, or its address on the
// network.
func (o Options) Path() string {
	if _, network, _ := port.Network(o.Port); network || filepath.IsAbs(o.Port) {
		return o.Port
	}
	return filepath.Join(o.Base, o.Port)
}

// validate checks of filled options what no tag says, and gives every problem at once.
func (o Options) validate() error {
	var problems []error
	bad := func(format string, args ...any) { problems = append(problems, fmt.Errorf(format, args...)) }
	if o.ReconnectMin > o.ReconnectMax {
		bad("reconnect_min is %v and reconnect_max %v; the first must not be longer", o.ReconnectMin, o.ReconnectMax)
	}
	if _, _, err := port.Network(o.Port); err != nil {
		problems = append(problems, err)
	}
	if o.registers() {
		return errors.Join(append(problems, o.validateModbus()...)...)
	}
	if o.Expect != nil {
		bad(`expect is for protocol = "modbus" and "modbus-tcp"; write identify`)
	}
	return errors.Join(append(problems, o.Dialect.Validate(o.coded())...)...)
}

// validateModbus refuses what only lines have.
func (o Options) validateModbus() (problems []error) {
	for _, k := range []struct {
		key   string
		given bool
	}{{"identify", o.Identify != nil}, {"init", len(o.Init) > 0}, {"halt", len(o.Halt) > 0}, {"errors", o.Errors != nil}} {
		if k.given {
			problems = append(problems, fmt.Errorf("%s describes lines of text; a modbus device has none", k.key))
		}
	}
	a, network, err := port.Network(o.Port)
	switch {
	case err != nil:
	case o.Protocol == "modbus-tcp" && (!network || a.Scheme != "tcp"):
		problems = append(problems, fmt.Errorf(`port is %q; modbus-tcp is spoken over tcp://HOST:502, and over a serial line modbus, which is RTU`, o.Port))
	case o.Protocol == "modbus" && network && a.Port == "502":
		problems = append(problems, fmt.Errorf(`port is %q, and 502 is the port of Modbus TCP; write protocol = "modbus-tcp". "modbus" is RTU, which a serial server passes on at another port`, o.Port))
	}
	if o.Protocol == "modbus-tcp" {
		return problems
	}
	if o.Address < 1 || o.Address > 247 {
		problems = append(problems, fmt.Errorf("address is %d; on a serial line it is 1 to 247", o.Address))
	}
	if o.DataBits != 8 {
		problems = append(problems, fmt.Errorf("data_bits is %d; modbus RTU needs 8", o.DataBits))
	}
	return problems
}
