// Package drivers defines what tuner asks of an instrument.
//
// A Device is one connection (a serial port, an MQTT session, a child process,
// a simulated plant) that offers named channels. Every device can be read; one
// that can also be set is an Actuator. The interfaces are small and their calls
// block: the loop gives each device a separate goroutine, so a driver is
// written as plain sequential code that honours its context, and gives way to a safe
// value (ErrPreempted).
//
// # Words
//
// A channel is one scalar quantity of a device, with a unit. A Reading is what
// the device had to say at one instant: the channels for which it has a new
// value. A channel that is asked for and absent from the answer has nothing new:
// no data, never a number. A device never reports NaN or an infinity.
//
// To release a channel is to let go of it (stop dosing, open the control loop),
// so that its value becomes what the environment makes of it.
package drivers

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Access reports whether a channel can be set.
type Access uint8

// The two kinds of access.
const (
	ReadOnly Access = iota
	ReadWrite
)

// Channel is what a device declares about one of its channels. Limits that a
// device does not know are NaN.
type Channel struct {
	Name   string
	Unit   string
	Access Access
	// Min and Max bound what the device accepts, in Unit.
	Min, Max float64
	// Safe is the value that Halt brings the channel to, in Unit.
	Safe float64
	// Resolution is the step in which the device takes values, Accuracy how far a reading
	// may lie from the truth, in Unit; 0: not known.
	Resolution, Accuracy float64
	// CanRelease says that Setpoints.Release may name the channel.
	CanRelease bool
	// Dose says that a write adds an amount, once, that nothing takes back: writing it
	// again adds it again. To release such a channel is to stop a dose that runs.
	Dose bool
	// Lasts says that the device keeps a setpoint only for the time that comes with it
	// (Setpoints.For), and then goes to its own safe state: it needs no watching host.
	Lasts bool
}

// Reading holds the channels for which a device has a new value, all of one
// instant.
type Reading struct {
	// Values by channel name, in the channel's unit; finite.
	Values map[string]float64
	// At is when the values were taken, by the clock of Env: a monotonic reading.
	At time.Time
	// Missing says of channels that were asked for why they have no value, where the device
	// knows: what it answered instead, in words that can be printed. nil: it says nothing.
	Missing map[string]error
}

// Setpoints is one write: every value and every release in it belong together.
type Setpoints struct {
	// Values by channel name, in the channel's unit.
	Values map[string]float64
	// Release names the channels to let go of.
	Release []string
	// Dose, where it is not empty, says that Values is one dose of one channel, and
	// names it: no other dose ever has the same name, so that a device which has heard
	// it before need not be sent it twice. Write returns when the dose has been given, or
	// has been taken on by a device that does not say when; the readback, if any, is
	// the amount that was given. It never sends a dose twice, whatever happens: an
	// error says by ErrNotSent or ErrRefused that nothing was given, and any other
	// means that the outcome is unknown.
	Dose string
	// For is how long each value holds unless it is written again, by the name of a
	// channel that Lasts. One that is absent holds until it is changed, or as long as
	// the driver says where the device needs a time.
	For map[string]time.Duration
	// Safe says that this write makes safe: it brings channels to their rest states. It
	// goes out at once over any connection that is open, also where what the driver knows
	// of that connection or of the device (that it has flapped, that the two sides may be
	// out of step, that the device says it is away) would keep another write back, and
	// where there is no connection one is looked for at once. Of all that was ever
	// written it is what the device must see last: nothing of an earlier write may leave
	// after it.
	Safe bool
	// SendBy is until when, by the clock of Env, this write may leave; zero: at any time. A
	// driver looks before each message and before each repeat, so that what waited for a line,
	// or for a process that was stopped, is not said when it is no longer true. See Late.
	SendBy time.Time
	// Revoked says whether this write may not leave any more, because it has been decided
	// otherwise since; nil: it is not revoked. It may be called from any goroutine.
	Revoked func() bool
}

// Late says that nothing more of s may leave, with an error that wraps ErrLate. Beside
// ErrNotSent it means that nothing has left; alone, that what left before is in force.
func (s Setpoints) Late(now time.Time) error {
	if s.Revoked != nil && s.Revoked() {
		return fmt.Errorf("%w: it was decided otherwise meanwhile", ErrLate)
	}
	if s.SendBy.IsZero() || !now.After(s.SendBy) {
		return nil
	}
	return fmt.Errorf("%w by %v", ErrLate, now.Sub(s.SendBy).Round(time.Millisecond))
}

// CheckDose reports whether c takes s as it is, with an error that wraps ErrRefused where
// not: a dose has a name, nothing else is written where every write adds an amount, and
// a dose is alone in its write.
func (s Setpoints) CheckDose(c Channel) error {
	switch {
	case c.Dose && s.Dose == "":
		return fmt.Errorf("%w: channel %q adds an amount with every write, and this is no dose", ErrRefused, c.Name)
	case !c.Dose && s.Dose != "":
		return fmt.Errorf("%w: channel %q takes setpoints, and this is a dose", ErrRefused, c.Name)
	case c.Dose && len(s.Values)+len(s.Release) > 1:
		return fmt.Errorf("%w: a dose of %q with something beside it", ErrRefused, c.Name)
	}
	return nil
}

// Device is an instrument that can be read. Calls come from one goroutine at a
// time, except Close, which may come from any and makes a blocked call return.
type Device interface {
	// Open connects and returns the channels, in the device's order. It moves
	// nothing. An error that a later attempt may cure wraps ErrUnavailable.
	Open(ctx context.Context) ([]Channel, error)
	// Read asks for channels and returns the new values among them. Reading the
	// same value twice is two readings only where the device measured twice.
	Read(ctx context.Context, channels []string) (Reading, error)
	// Close ends the connection and frees what it holds. It moves nothing; call
	// Halt before it. It is idempotent.
	Close() error
}

// LongOpener is a device that may take long to open, as a program does that imports much.
type LongOpener interface {
	// OpenTime is the longest that Open takes before it gives up by itself.
	OpenTime() time.Duration
}

// OpenTime is the time to give a device to open: 15 s, or longer where it says that it may take longer.
func OpenTime(d Device) time.Duration {
	const least = 15 * time.Second
	if l, ok := d.(LongOpener); ok {
		return max(least, l.OpenTime())
	}
	return least
}

// Actuator is a device that can be set.
type Actuator interface {
	// Write sets and releases channels and returns the readback where the device
	// answers with one (else a Reading without values).
	Write(ctx context.Context, s Setpoints) (Reading, error)
	// Halt brings every output to the device's own declared safe state. It is
	// idempotent and may be called from any state after Open; nil means that the
	// device confirmed it.
	Halt(ctx context.Context) error
}

// Listener is a device that speaks on its own. Its readings go to the sink as
// they arrive, so the loop does not poll it; Read returns the latest values.
type Listener interface {
	// Listen sets the sink, once, before Open. The device calls it from a
	// goroutine of its own; the sink does not block.
	Listen(sink func(Reading))
}

// DelayedActuator is an actuator whose messages may reach the device late, after the call that
// sent them has ended.
type DelayedActuator interface {
	// MaxDelay is how long after it was sent a message may still reach the device. Where
	// it is not known what became of a write, a safe value is written again until then.
	MaxDelay() time.Duration
	// LastLoss is when a connection of the device last ended, by the clock of Env; zero:
	// none has. What was written before is then as unknown as what has failed: it may be
	// lost, or on its way still.
	LastLoss() time.Time
}

// Notifier is a device that reports on its connection, besides errors.
type Notifier interface {
	// Notify sets the receiver of its reports, once, before Open. The device calls it from a
	// goroutine of its own; it does not block.
	Notify(func(text string))
}

// SafeCloser is a device whose outputs do not outlive the connection.
type SafeCloser interface {
	// SafeOnClose reports whether the device brings its outputs to its own safe state
	// when the connection ends: nothing can be held there after Close.
	SafeOnClose() bool
}

// Keeper is a SafeCloser that can also leave outputs as they stand when the connection ends.
type Keeper interface {
	// Keep says that the connection is about to end for good, with everything at rest, and that
	// these channels stay as they are whatever becomes of this process. nil means that the device
	// has promised it; a write after it takes it back.
	Keep(ctx context.Context, channels []string) error
}

// Corrupter is a simulated device that can corrupt what its server puts on
// the wire, so that the other side meets garbage and NaN where they occur: in bytes,
// not in values. A server passes every answer through Spoil, which returns it
// unchanged unless such a fault is at work.
type Corrupter interface {
	Corrupt(answer []byte) []byte
}

// Clock gives the time. Differences between its readings are monotonic.
type Clock interface {
	Now() time.Time
}

// Env is what a driver may use of the world, besides its own options.
type Env struct {
	Clock Clock
	Log   *slog.Logger
	// ReadOnly says that no write will follow: opening, reading and closing leave the instrument
	// and its files as they are, also where closing would otherwise bring it to safe.
	ReadOnly bool
	// Owner is who drives the instrument, where a driver is to keep others from it; nil: it
	// need not, as for a command that looks, or makes safe beside a run.
	Owner *Owner
}

// Errors that a driver's errors wrap, so that the loop can decide what to do.
var (
	// ErrUnavailable: the instrument cannot be reached now; trying again may help.
	ErrUnavailable = errors.New("instrument unavailable")
	// ErrClosed: the connection has ended and does not come back by itself; the
	// device must be opened again. It comes with ErrUnavailable, which a
	// connection that mends itself gives alone.
	ErrClosed = errors.New("connection ended")
	// ErrProtocol: the instrument said something it may not say (late, out of
	// order, not a number, too long). The connection cannot be trusted any more.
	ErrProtocol = errors.New("protocol violated")
	// ErrRefused: the instrument understood and said no.
	ErrRefused = errors.New("refused by the instrument")
	// ErrPreempted is the cause of a context that its owner ends because a safe value is
	// to go out on the same device. A call returns then as soon as the safe value can
	// leave: at once where the transport lets one message overtake the answer to another,
	// else when the request that is on the line is over, without a next one.
	ErrPreempted = errors.New("overtaken by a safe value")
	// ErrNotSent: nothing of what was to be written has left for the instrument. It
	// comes with the error that prevented it.
	ErrNotSent = errors.New("nothing was sent")
	// ErrLate: the time by which a write may leave (Setpoints.SendBy) is over. It says
	// nothing about the instrument.
	ErrLate = errors.New("too late to leave")
	// ErrOwned: another tuner drives the instrument. It comes with ErrUnavailable.
	ErrOwned = errors.New("another tuner drives the instrument")
	// ErrNoValue: the instrument has measured and found no value. It comes with
	// ErrRefused, and ends the wait for a shot: none comes of asking again.
	ErrNoValue = errors.New("the measurement has no value")
)
