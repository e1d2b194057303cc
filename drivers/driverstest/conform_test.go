package driverstest

import (
	"slices"
	"testing"
	"time"

	"github.com/labtuner/tuner/drivers"
)

func TestConformPassesWhatConforms(t *testing.T) {
	Conform(t, func() drivers.Device { return &fake{} })
	Conform(t, func() drivers.Device { return talker{&fake{}} })
}

// Each flaw must be found by the check that is there for it.
func TestConformFindsFlaws(t *testing.T) {
	// Long beside what a fake in memory needs, on a busy machine too.
	const patience = time.Second
	for _, c := range []struct {
		flaw, check string
	}{
		{"twice", "open declares"},
		{"upside down", "open declares"},
		{"unsafe", "open declares"},
		{"release of meter", "open declares"},
		{"changes", "open again"},
		{"nan", "read"},
		{"tells more", "read"},
		{"timeless", "read"},
		{"invents", "read what there is not"},
		{"deaf to context", "cancelled context"},
		{"mute", "listen"},
		{"changes argument", "write"},
		{"takes all", "write what must not be"},
		{"halts once", "halt"},
		{"halts closed", "closed"},
		{"closes once", "closed"},
		{"reads closed", "closed"},
		{"leaks", "close leaves nothing"},
	} {
		t.Run(c.flaw, func(t *testing.T) {
			i := slices.IndexFunc(checks, func(k check) bool { return k.name == c.check })
			if i < 0 {
				t.Fatalf("there is no check %q", c.check)
			}
			problems := checks[i].problems(func() drivers.Device { return talker{&fake{flaw: c.flaw}} }, patience)
			if len(problems) == 0 {
				t.Errorf("the check %q finds nothing", c.check)
			}
			if good := checks[i].problems(func() drivers.Device { return talker{&fake{}} }, time.Minute); len(good) > 0 {
				t.Errorf("the check %q finds fault with a good device: %q", c.check, good)
			}
		})
	}
}
