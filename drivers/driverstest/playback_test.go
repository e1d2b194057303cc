package driverstest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/labtuner/tuner/drivers"
)

// session uses a device in every way and gives what it heard.
func session(t *testing.T, d drivers.Device) []any {
	t.Helper()
	ctx := context.Background()
	var heard []any
	hear := func(things ...any) {
		for _, thing := range things {
			switch x := thing.(type) {
			case error:
				thing = x.Error()
			case drivers.Reading:
				thing = x.Values
			case []drivers.Channel:
				names := ""
				for _, c := range x {
					names += c.Name + " "
				}
				thing = names
			}
			heard = append(heard, thing)
		}
	}
	spoken := make(chan drivers.Reading, 8)
	if l, ok := d.(drivers.Listener); ok {
		l.Listen(func(r drivers.Reading) { spoken <- r })
	}
	channels, err := d.Open(ctx)
	hear(channels, err)
	if _, ok := d.(drivers.Listener); ok {
		hear(<-spoken)
	}
	r, err := d.Read(ctx, []string{"meter", "knob"})
	hear(r, err)
	if a, ok := d.(drivers.Actuator); ok {
		r, err = a.Write(ctx, drivers.Setpoints{Values: map[string]float64{"knob": 3}})
		hear(r, err)
		r, err = a.Write(ctx, drivers.Setpoints{Values: map[string]float64{"knob": 11}})
		hear(r, err, errors.Is(err, drivers.ErrRefused))
		r, err = a.Write(ctx, drivers.Setpoints{Release: []string{"knob"}})
		hear(r, err)
		hear(a.Halt(ctx))
	}
	hear(d.Close())
	return heard
}

func TestPlaybackRepeatsTheRecording(t *testing.T) {
	type silent struct {
		drivers.Device
	}
	type settable struct {
		drivers.Device
		drivers.Actuator
	}
	f := &fake{}
	for name, dev := range map[string]drivers.Device{
		"sensor":             silent{f},
		"actuator":           settable{f, f},
		"listener, actuator": talker{&fake{}},
	} {
		t.Run(name, func(t *testing.T) {
			wrapped, rec := Record(dev)
			_, canSet := dev.(drivers.Actuator)
			if _, also := wrapped.(drivers.Actuator); also != canSet {
				t.Errorf("the recorded device is an Actuator: %v, the original: %v", also, canSet)
			}
			original := session(t, wrapped)

			var stored bytes.Buffer
			if err := rec.Transcript().Store(&stored); err != nil {
				t.Fatal(err)
			}
			loaded, err := Load(&stored)
			if err != nil {
				t.Fatal(err)
			}
			for what, transcript := range map[string]Transcript{"kept": rec.Transcript(), "stored": loaded} {
				if again := session(t, Playback(transcript, wall{})); !reflect.DeepEqual(original, again) {
					t.Errorf("%s: the playback gave\n%v\nwhere the device gave\n%v", what, again, original)
				}
			}
		})
	}
}

func TestStoreKeepsUnknownLimits(t *testing.T) {
	var stored bytes.Buffer
	want := drivers.Channel{Name: "meter", Unit: "W", Min: math.NaN(), Max: math.NaN(), Safe: math.NaN()}
	if err := (Transcript{Calls: []Call{{Op: OpOpen, Offered: []drivers.Channel{want}}}}).Store(&stored); err != nil {
		t.Fatal(err)
	}
	got, err := Load(&stored)
	if err != nil {
		t.Fatal(err)
	}
	if !sameChannel(got.Calls[0].Offered[0], want) {
		t.Errorf("%+v became %+v", want, got.Calls[0].Offered[0])
	}
}

// An error may be of several kinds, and each decides what the loop does.
func TestStoreKeepsKindsOfErrors(t *testing.T) {
	want := fmt.Errorf("%w: %w: the plug was pulled", drivers.ErrUnavailable, drivers.ErrClosed)
	var stored bytes.Buffer
	if err := (Transcript{Calls: []Call{{Op: OpHalt, Err: want}}}).Store(&stored); err != nil {
		t.Fatal(err)
	}
	loaded, err := Load(&stored)
	if err != nil {
		t.Fatal(err)
	}
	got := loaded.Calls[0].Err
	if got.Error() != want.Error() {
		t.Errorf("%q became %q", want, got)
	}
	for _, k := range kinds {
		if errors.Is(got, k.err) != errors.Is(want, k.err) {
			t.Errorf("%q: is %v: %v, was %v", got, k.err, errors.Is(got, k.err), errors.Is(want, k.err))
		}
	}
}

// lapser is a device whose outputs end with the connection, or do not.
type lapser struct {
	drivers.Device
	lapses bool
}

func (l lapser) SafeOnClose() bool { return l.lapses }

func TestPlaybackLapsesAsTheDevice(t *testing.T) {
	for name, dev := range map[string]drivers.Device{"not a lapser": &fake{}, "no": lapser{&fake{}, false}, "yes": lapser{&fake{}, true}} {
		wrapped, rec := Record(dev)
		var stored bytes.Buffer
		if err := rec.Transcript().Store(&stored); err != nil {
			t.Fatal(err)
		}
		loaded, err := Load(&stored)
		if err != nil {
			t.Fatal(err)
		}
		for what, d := range map[string]drivers.Device{"recorded": wrapped, "played": Playback(loaded, wall{})} {
			if got := d.(drivers.SafeCloser).SafeOnClose(); got != (name == "yes") {
				t.Errorf("%s, %s: LapsesOnClose says %v", name, what, got)
			}
		}
	}
}

func TestPlaybackNoticesWrongCalls(t *testing.T) {
	ctx := context.Background()
	transcript := Transcript{Actuator: true, Calls: []Call{
		{Op: OpOpen}, {Op: OpRead, Channels: []string{"a", "b"}}, {Op: OpHalt}, {Op: OpClose}}}
	for name, c := range map[string]struct {
		use  func(d drivers.Device) error
		want string
	}{
		"other channels": {func(d drivers.Device) error {
			_, _ = d.Open(ctx)
			_, err := d.Read(ctx, []string{"a"})
			return err
		}, `call 2 is read ["a"] where read ["a" "b"] was expected`},
		"other operation": {func(d drivers.Device) error {
			_, _ = d.Open(ctx)
			return d.(drivers.Actuator).Halt(ctx)
		}, `call 2 is halt where read ["a" "b"] was expected`},
		"calls left over": {func(d drivers.Device) error {
			_, _ = d.Open(ctx)
			return d.Close()
		}, `call 2 is close where read ["a" "b"] was expected`},
		"one call too many": {func(d drivers.Device) error {
			_, _ = d.Open(ctx)
			_, _ = d.Read(ctx, []string{"b", "a"}) // the order does not matter
			_ = d.(drivers.Actuator).Halt(ctx)
			_ = d.Close()
			return d.(drivers.Actuator).Halt(ctx)
		}, "call 5 is halt where the end was expected"},
	} {
		t.Run(name, func(t *testing.T) {
			d := Playback(transcript, wall{})
			err := c.use(d)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v where the error should hold %q", err, c.want)
			}
			if err := d.Close(); err == nil {
				t.Error("Close does not tell of the wrong call")
			}
		})
	}
}

func TestPlaybackTellsWhatIsLeftOver(t *testing.T) {
	d := Playback(Transcript{Calls: []Call{{Op: OpOpen}, {Op: OpClose}, {Op: OpOpen}}}, wall{})
	_, _ = d.Open(context.Background())
	if err := d.Close(); err == nil || !strings.Contains(err.Error(), "1 calls are left over, the first is open") {
		t.Errorf("Close: %v", err)
	}
}

func TestLoadRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":         "",
		"another version": `{"transcript":2}`,
		"unknown op":      `{"transcript":1}` + "\n" + `{"op":"jump"}`,
		"unknown kind":    `{"transcript":1}` + "\n" + `{"op":"halt","error":{"text":"x","kinds":["odd"]}}`,
		"unknown key":     `{"transcript":1}` + "\n" + `{"op":"halt","colour":1}`,
	} {
		if _, err := Load(strings.NewReader(text)); err == nil {
			t.Errorf("%s: loaded", name)
		}
	}
}
