package session

import (
	"errors"
	"fmt"
	"os"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/local"
)

// claim has the run be the only one of this computer that drives its instruments, before
// anything is written: two would set the same actuators in turn, each believing that it is
// alone.
func (s *session) claim() error {
	me := local.Driver{Run: s.Setup.Config.Name, Journal: host.Absolute(s.Path), Since: s.began}
	me.Host, _ = os.Hostname() // without a name the rest is told
	for _, c := range s.Setup.Claims() {
		held, err := local.TakeInstrument(c.Identity, me)
		if err != nil {
			err = fmt.Errorf("the instrument of device %q (%s) %w", c.Device, c.Where, err)
			if e := new(local.HeldError); errors.As(err, &e) {
				err = fault.WithHint(err, "wait until that run has ended, or end it with tuner stop; tuner make-safe works beside it")
			}
			return err
		}
		s.claims = append(s.claims, held)
	}
	return nil
}
