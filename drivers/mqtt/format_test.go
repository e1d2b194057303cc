package mqtt

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/driverstest/broker"
	"github.com/labtuner/tuner/drivers/mqtt/link"
)

// lamp is a channel of a device that knows numbers only, in per mille.
func lamp() ChannelOptions {
	scale, least, most := 0.1, 0.0, 100.0
	return ChannelOptions{
		Channel: "ca",
		Read:    &ReadTopic{Topic: "lab/lamp"},
		Write:   &WriteTopic{Topic: "lab/lamp/set", Format: "number"},
		Release: &ReleaseTopic{Topic: "lab/lamp/set", Payload: "off"},
		Unit:    "%", ScaleKeys: drivers.ScaleKeys{Scale: &scale, Min: &least, Max: &most},
	}
}

// Numbers and text on the wire, values in the channel's unit on both sides.
func TestNumberFormat(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, v *broker.Virtual, o Options) {
		wire := listen(t, v, "lab/lamp/set")
		plant := &doser{}
		end := serveVirtual(t, o, []ChannelOptions{lamp()}, plant)
		d, _ := opened(t, o, lamp())
		if err := setCA(d, 55); err != nil {
			t.Error(err)
		}
		time.Sleep(2 * time.Second)
		r, err := d.Read(context.Background(), []string{"ca"})
		if err != nil || math.Abs(r.Values["ca"]-55) > 1e-9 {
			t.Errorf("Read gives %v, %v", r.Values, err)
		}
		if _, _, written := plant.state(); len(written) != 1 || math.Abs(written[0]-55) > 1e-9 {
			t.Errorf("the plant was written %v", written)
		}
		if _, err := d.Write(context.Background(), drivers.Setpoints{Release: []string{"ca"}}); err != nil {
			t.Error(err)
		}
		time.Sleep(time.Second)
		if _, released, _ := plant.state(); !released {
			t.Error("the release was not taken")
		}
		if got := wire.take(); strings.Join(got, " ") != "550 off" {
			t.Errorf("on the wire: %q", got)
		}
		for _, junk := range []string{"NaN", "1e999", "0x10", "on", "", `{"value":3}`} {
			if err := v.Publish("lab/lamp/set", []byte(junk), false); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		if _, _, written := plant.state(); len(written) != 1 {
			t.Errorf("junk was written: %v", written)
		}
		if err := setCA(d, 100.5); !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "its limits are 0 to 100") {
			t.Errorf("beyond the file's limit: %v", err)
		}
		closed(t, d)
		end()
	})
}

// What Open declares is the file's, so that the loop can compare it.
func TestDeclares(t *testing.T) {
	inVirtualTime(t, func(t *testing.T, _ *broker.Virtual, o Options) {
		d, _ := newDevice(t, o, lamp())
		got, err := d.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		if c := got[0]; c.Name != "ca" || c.Unit != "%" || c.Min != 0 || c.Max != 100 || !math.IsNaN(c.Safe) || !c.CanRelease || c.Access != drivers.ReadWrite {
			t.Errorf("declared: %+v", c)
		}
		closed(t, d)
	})
}

// A reading in another unit than the channel's is no data; the plant says its own.
func TestUnitPath(t *testing.T) {
	c := ChannelOptions{Channel: "area", Unit: "mm2", Read: &ReadTopic{Topic: "lab/area", Path: "v", UnitPath: "meta.unit"}}
	for payload, want := range map[string]bool{
		`{"v":1,"meta":{"unit":"mm2"}}`: true,
		`{"v":1,"meta":{"unit":"cm2"}}`: false,
		`{"v":1,"meta":{"unit":5}}`:     false,
		`{"v":1}`:                       false,
	} {
		d, _ := idle(t, c)
		if got := hears(t, d, link.Arrived{Topic: "lab/area", Payload: []byte(payload)}); (len(got) == 1) != want {
			t.Errorf("%s gives %v", payload, got)
		}
	}
	inVirtualTime(t, func(t *testing.T, _ *broker.Virtual, o Options) {
		end := serveVirtual(t, o, []ChannelOptions{c}, &doser{})
		d, _ := opened(t, o, c)
		time.Sleep(2 * time.Second)
		if r, err := d.Read(context.Background(), []string{"area"}); err != nil || r.Values["area"] != 100 {
			t.Errorf("Read gives %v, %v", r.Values, err)
		}
		closed(t, d)
		end()
	})
}

// A value that scale and offset move beyond a limit by rounding is at the limit.
func TestNearLimit(t *testing.T) {
	for _, scale := range []float64{0.1, 1.0 / 3, 7e-5} {
		c := &channel{Scaled: drivers.Scaled{Scale: scale, Offset: -40}}
		for _, limit := range []float64{-40, 0, 12.3, 1e4} {
			v, err := c.FromRaw(c.ToRaw(limit))
			if err != nil || c.NearLimit(v, limit, limit) != limit {
				t.Errorf("scale %v: %v comes back as %v, %v", scale, limit, v, err)
			}
		}
		if v := c.NearLimit(12.31, 0, 12.3); v != 12.31 {
			t.Errorf("a value well beyond its limit is moved to %v", v)
		}
	}
	if _, err := (&channel{Scaled: drivers.Scaled{Scale: 1e300}}).FromRaw(1e300); err == nil {
		t.Error("a product beyond all bounds is a value")
	}
}
