package setup

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
)

// Acts says that a variable of the file is set on a device.
func Acts(cfg *configs.Config, device string) bool {
	return slices.ContainsFunc(cfg.Variables, func(v configs.Variable) bool { return v.HasActuator() && v.Device == device })
}

// waits tell of what a safe value would have to wait for on the devices of a file.
type waits struct {
	cfg     *configs.Config
	devices []Device
}

// safeWaits refuses requests that a safe value would have to wait for longer than the file
// allows.
func (x waits) safeWaits() (problems []configs.Problem) {
	most := x.cfg.Safety.SafeWait
	for _, d := range x.devices {
		if !Acts(x.cfg, d.Name) {
			continue
		}
		for _, r := range d.Requests {
			if r.Most > most {
				problems = append(problems, d.requestProblem(r,
					fmt.Sprintf("%s is longer than safe_wait of [safety] (%s): nothing overtakes a request that is under way, and a safe value would have to wait for it", show.Duration(r.Most), show.Duration(most)),
					fmt.Sprintf("shorten it, put what is slow on a device of its own, or write safe_wait = %q if the instrument tolerates that", show.Duration(r.Most))))
			}
		}
	}
	return problems
}

// requestProblem is one of a key that bounds a request. A channel of a ready description has
// no section in the file.
func (d *Device) requestProblem(r drivers.Request, what, hint string) configs.Problem {
	if r.Channel == "" {
		return d.section.Problem(r.Key, what, hint)
	}
	if section, there := d.section.Channel(r.Channel); there {
		return section.Problem(r.Key, what, hint)
	}
	return d.section.Problem("channel."+r.Channel+"."+r.Key, what, hint)
}

// SafeWait is the longest that a safe value waits for the request under way; 0: it leaves at
// once.
func (d *Device) SafeWait() (most time.Duration) {
	for _, r := range d.Requests {
		most = max(most, r.Most)
	}
	if most > 0 {
		most += d.Beside
	}
	return most
}

// LastSafeWait is the longest that the last of several safe values waits on a line that tells
// one actuator after the other: for the request under way and the writes before its own. 0:
// one write tells them all.
func (d *Device) LastSafeWait(cfg *configs.Config) time.Duration {
	if d.Writes == nil {
		return 0
	}
	var each []time.Duration
	for _, v := range cfg.Variables {
		if most, there := d.Writes[v.Channel]; v.Device == d.Name && v.HasActuator() && there {
			each = append(each, most+d.Beside)
		}
	}
	if len(each) < 2 {
		return 0
	}
	sum := d.SafeWait() - slices.Min(each)
	for _, most := range each {
		sum += most
	}
	return sum
}

// leaseDoubts tell of actuators that no safe value can reach while a network is down, and
// that have no time-out of their own.
func (x waits) leaseDoubts() (out []configs.Problem) {
	for _, d := range x.devices {
		var without []string
		for i := range x.cfg.Variables {
			v := &x.cfg.Variables[i]
			s, limited := x.cfg.Safety.Variables[v.Name]
			if d.Broker != "" && v.Device == d.Name && limited && v.HasActuator() && v.Kind != "dose" && s.Lease == nil {
				without = append(without, v.Name)
			}
		}
		if len(without) > 0 {
			out = append(out, x.cfg.Problem("device."+d.Name,
				fmt.Sprintf("%s: set over MQTT without a lease; while the broker or the network is down no safe value arrives, and the last setpoint stays", strings.Join(without, ", ")),
				"give the device a time-out after which it goes safe by itself, and write it as lease in [safety.variable.X]"))
		}
	}
	return out
}

// lastDoubts tell of lines on which the last of several safe values may come later than
// safe_wait. That is no refusal: each is sent as soon as the one before has been answered, and
// an instrument that is not at its slowest answers far sooner.
func (x waits) lastDoubts() (out []configs.Problem) {
	most := x.cfg.Safety.SafeWait
	for i := range x.devices {
		d := &x.devices[i]
		if last := d.LastSafeWait(x.cfg); last > most && d.SafeWait() <= most {
			out = append(out, x.cfg.Problem("device."+d.Name,
				fmt.Sprintf("its actuators get their safe values one after the other; the last may wait %s, longer than safe_wait of [safety] (%s), where every answer comes late", show.Duration(last), show.Duration(most)),
				fmt.Sprintf("shorten reply_timeout, put actuators on lines of their own, or write safe_wait = %q if the instrument tolerates that", show.Duration(last))))
		}
	}
	return out
}

// staleDoor is how old the reading of an interlock over MQTT may grow before that is worth a
// warning.
const staleDoor = 5 * time.Second

// doorDoubts tell of interlocks over MQTT whose sensors may be silent for long: while messages
// do not arrive, an open door is not seen.
func (x waits) doorDoubts() (out []configs.Problem) {
	for _, lock := range x.cfg.Safety.Interlocks {
		for i := range x.cfg.Sensors {
			s := &x.cfg.Sensors[i]
			over := slices.ContainsFunc(x.devices, func(d Device) bool { return d.Name == s.Device && d.Broker != "" })
			if s.Name != lock.Sensor || !over || s.MaxAge <= staleDoor {
				continue
			}
			out = append(out, x.cfg.Problem("sensor."+s.Name+".max_age",
				fmt.Sprintf("an interlock over MQTT may be silent for %s before it trips: while the broker or the network is down, an open door is not noticed for that long", show.Duration(s.MaxAge)),
				fmt.Sprintf("have the device publish it every second or two, and write max_age = %q or less", show.Duration(staleDoor))))
		}
	}
	return out
}

// roundDoubts tell of leases that the device's other requests may not leave time for: a
// setpoint is written again at a third of its lease, behind the readings that are under way.
func (x waits) roundDoubts() (out []configs.Problem) {
	for _, d := range x.devices {
		for i := range x.cfg.Variables {
			v := &x.cfg.Variables[i]
			lease := x.cfg.Safety.Variables[v.Name].Lease
			if v.Device != d.Name || !v.HasActuator() || lease == nil || d.Round <= *lease/3 {
				continue
			}
			out = append(out, x.cfg.Problem("safety.variable."+v.Name+".lease",
				fmt.Sprintf("%s may run out: the readings of device %q may take %s (%s), and a setpoint that is written again at a third of the lease (%s) waits for them",
					show.Duration(*lease), d.Name, show.Duration(d.Round), d.RoundWords, show.Duration(*lease/3)),
				fmt.Sprintf("give the instrument a lease of %s or more, shorten reply_timeout or retries, or read what is slow on a device of its own", show.Duration(3*d.Round))))
		}
	}
	return out
}
