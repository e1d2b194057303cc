package session

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/local"
)

// claim has the run be the only one of this computer that drives its instruments, before
// anything is written: two would set the same actuators in turn, each believing that it is
// alone. Where a broker lies between, the driver does the same there.
func (s *session) claim() error {
	for _, c := range s.Setup.Claims() {
		held, err := local.TakeInstrument(c.Identity, s.owner())
		if err != nil {
			return fmt.Errorf("the instrument of device %q (%s) %w", c.Device, c.Where, err)
		}
		s.claims = append(s.claims, held)
	}
	return nil
}

// owner is who this run is to others that want its instruments.
func (s *session) owner() drivers.Owner {
	me := drivers.Owner{Run: s.Setup.Config.Name, Journal: host.Absolute(s.Path), PID: os.Getpid(), Since: s.began, User: "uid " + strconv.Itoa(os.Getuid())}
	if u, err := user.Current(); err == nil {
		me.User = u.Username
	}
	me.Host, _ = os.Hostname() // without a name the rest is shown
	if space, err := os.Readlink("/proc/self/ns/pid"); err == nil && host.BootID() != "" {
		me.Machine = host.BootID() + " " + space
	}
	return me
}
