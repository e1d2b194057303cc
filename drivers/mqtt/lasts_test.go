package mqtt

import (
	"fmt"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

// TestSeqIsExact: a number beyond those that JSON carries exactly is not taken for another.
func TestSeqIsExact(t *testing.T) {
	for seq, good := range map[int64]bool{maxSeq: true, maxSeq + 2: false} {
		if s, err := parseSetpoint(fmt.Appendf(nil, `{"session":"s","seq":%d,"ttl_ms":1,"value":2}`, seq), false); (err == nil) != good || good && s.Seq != seq {
			t.Errorf("seq %d: %d, %v", seq, s.Seq, err)
		}
	}
}

// TestSetpointLasts: a setpoint of a channel that lasts carries its time, and the other
// side reads it; a number alone cannot carry one.
func TestSetpointLasts(t *testing.T) {
	d := &Device{session: "s", sessionStart: time.Unix(0, 0), env: drivers.Env{Clock: fixedClock{}}, seq: 1}
	c := &channel{write: "set", ttl: time.Second, Scaled: drivers.Scaled{Scale: 1}}
	v := 2.0
	_, payload, err := d.compose(c, &v, extras{lasts: 1500 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	s, err := parseSetpoint(payload, false)
	if err != nil || s.ForMS != 1500 || *s.Value != 2 {
		t.Errorf("%s: %+v, %v", payload, s, err)
	}
	if _, payload, _ = d.compose(c, &v, extras{}); len(payload) == 0 {
		t.Fatal("nothing")
	}
	if s, err := parseSetpoint(payload, false); err != nil || s.ForMS != 0 {
		t.Errorf("%s: %+v, %v", payload, s, err)
	}
	o := lamp()
	o.Write.Lasts = true
	if err := (&channel{}).parseWrite(o); err == nil {
		t.Error("a number that lasts was taken")
	}
	o.Write.Format, o.Release = "json", nil
	c = &channel{}
	if err := c.parseWrite(o); err != nil || !c.Lasts {
		t.Errorf("lasts %v, error %v", c.Lasts, err)
	}
}

// fixedClock stands at a second after 1970.
type fixedClock struct{}

func (fixedClock) Now() time.Time { return time.Unix(1, 0) }
