package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop/plan"
)

// acts says that a variable of the file is set on a device.
func acts(cfg *configs.Config, device string) bool {
	return slices.ContainsFunc(cfg.Variables, func(v configs.Variable) bool { return v.HasActuator() && v.Device == device })
}

// safeWaits refuses requests that a safe value would have to wait for longer than the file
// allows.
func (w *wiring) safeWaits() (problems []configs.Problem) {
	most := w.cfg.Safety.SafeWait
	for _, d := range w.devices {
		if !acts(w.cfg, d.name) {
			continue
		}
		for _, r := range d.requests {
			if r.most > most {
				problems = append(problems, r.problem(
					fmt.Sprintf("%s is longer than safe_wait of [safety] (%s): nothing overtakes a request that is under way, and a safe value would wait for it so long", duration(r.most), duration(most)),
					fmt.Sprintf("shorten it, put what is slow on a device of its own, or write safe_wait = %q if the instrument bears that", duration(r.most))))
			}
		}
	}
	return problems
}

// safeWait is the longest that a safe value waits for the request under way; 0: it leaves at
// once.
func (d *deviceWiring) safeWait() (most time.Duration) {
	for _, r := range d.requests {
		most = max(most, r.most)
	}
	if most > 0 {
		most += d.beside
	}
	return most
}

// lastSafeWait is the longest that the last of several safe values waits on a line that tells
// one actuator after the other: for the request under way and the writes before its own. 0:
// one write tells them all.
func (d *deviceWiring) lastSafeWait(cfg *configs.Config) time.Duration {
	if d.writes == nil {
		return 0
	}
	var each []time.Duration
	for _, v := range cfg.Variables {
		if most, there := d.writes[v.Channel]; v.Device == d.name && v.HasActuator() && there {
			each = append(each, most+d.beside)
		}
	}
	if len(each) < 2 {
		return 0
	}
	sum := d.safeWait() - slices.Min(each)
	for _, most := range each {
		sum += most
	}
	return sum
}

// waitWords say what a safe value waits for on device number i.
func (w *wiring) waitWords(i int) string {
	d := &w.devices[i]
	most := d.safeWait()
	if most == 0 {
		words := "for nothing: it overtakes what is under way"
		if d.broker != "" {
			words += "; over a link that has died without a sign it leaves again after " + duration(mqtt.BrokerWait) + ", over a new connection"
		}
		return words
	}
	words := "for the request under way, " + duration(most) + " at most"
	if last := d.lastSafeWait(w.cfg); last > 0 {
		words += "; the last of its actuators, which are told one after the other, " + duration(last)
	}
	if d.driver == "exec" {
		if slices.ContainsFunc(w.opt.Variables, func(v plan.Variable) bool { return v.Dose && v.Channel.Device == i }) {
			words += "; for a dose until it has been given, where the child answers only then"
		}
		words += "; where the child hangs, until it has ended (" + duration(most+d.exit) + " at most) and another has started"
	}
	return words
}

// checkWaits prints what a safe value waits for on each device that is set.
func (w *wiring) checkWaits(t *tabwriter.Writer) {
	first := true
	for i := range w.devices {
		d := &w.devices[i]
		if !acts(w.cfg, d.name) || d.build == nil {
			continue
		}
		if first {
			fmt.Fprint(t, "\ndevice\tdriver\ta safe value waits\n")
			first = false
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", d.name, d.driver, w.waitWords(i))
	}
	t.Flush()
}

// leaseDoubts tell of actuators that no safe value can reach while a network is down, and
// that have no time-out of their own.
func (w *wiring) leaseDoubts() (out []configs.Problem) {
	for _, d := range w.devices {
		var without []string
		for i := range w.cfg.Variables {
			v := &w.cfg.Variables[i]
			s, limited := w.cfg.Safety.Variables[v.Name]
			if d.broker != "" && v.Device == d.name && limited && v.HasActuator() && v.Kind != "dose" && s.Lease == nil {
				without = append(without, v.Name)
			}
		}
		if len(without) > 0 {
			out = append(out, w.cfg.Problem("device."+d.name,
				fmt.Sprintf("%s: set over MQTT without a lease; while the broker or the network is down no safe value arrives, and the last setpoint stays", strings.Join(without, ", ")),
				"give the device a time-out after which it goes safe by itself, and write it as lease in [safety.variable.X]"))
		}
	}
	return out
}

// lastDoubts tell of lines on which the last of several safe values may come later than
// safe_wait. That is no refusal: each is told as soon as the one before has been answered, and
// an instrument that is not at its slowest answers far sooner.
func (w *wiring) lastDoubts() (out []configs.Problem) {
	most := w.cfg.Safety.SafeWait
	for i := range w.devices {
		d := &w.devices[i]
		if last := d.lastSafeWait(w.cfg); last > most && d.safeWait() <= most {
			out = append(out, w.cfg.Problem("device."+d.name,
				fmt.Sprintf("its actuators are told their safe values one after the other; the last may wait %s, longer than safe_wait of [safety] (%s), where every answer comes late", duration(last), duration(most)),
				fmt.Sprintf("shorten reply_timeout, put actuators on lines of their own, or write safe_wait = %q if the instrument bears that", duration(last))))
		}
	}
	return out
}

// staleDoor is how old the reading of an interlock over MQTT may grow before that is worth a
// warning.
const staleDoor = 5 * time.Second

// doorDoubts tell of interlocks over MQTT whose sensors may be silent for long: while messages
// do not arrive, an open door is not seen.
func (w *wiring) doorDoubts() (out []configs.Problem) {
	for _, lock := range w.cfg.Safety.Interlocks {
		for i := range w.cfg.Sensors {
			s := &w.cfg.Sensors[i]
			over := slices.ContainsFunc(w.devices, func(d deviceWiring) bool { return d.name == s.Device && d.broker != "" })
			if s.Name != lock.Sensor || !over || s.MaxAge <= staleDoor {
				continue
			}
			out = append(out, w.cfg.Problem("sensor."+s.Name+".max_age",
				fmt.Sprintf("an interlock over MQTT may be silent for %s before it trips: while the broker or the network is down, an open door is not seen for so long", duration(s.MaxAge)),
				fmt.Sprintf("have the device publish it every second or two, and write max_age = %q or less", duration(staleDoor))))
		}
	}
	return out
}

// roundDoubts tell of leases that the device's other requests may not leave time for: a
// setpoint is written again at a third of its lease, behind the readings that are under way.
func (w *wiring) roundDoubts() (out []configs.Problem) {
	for _, d := range w.devices {
		for i := range w.cfg.Variables {
			v := &w.cfg.Variables[i]
			lease := w.cfg.Safety.Variables[v.Name].Lease
			if v.Device != d.name || !v.HasActuator() || lease == nil || d.round <= *lease/3 {
				continue
			}
			out = append(out, w.cfg.Problem("safety.variable."+v.Name+".lease",
				fmt.Sprintf("%s may run out: the readings of device %q may take %s (%s), and a setpoint that is written again at a third of the lease (%s) waits for them",
					duration(*lease), d.name, duration(d.round), d.roundWords, duration(*lease/3)),
				fmt.Sprintf("give the instrument a lease of %s or more, shorten reply_timeout or retries, or read what is slow on a device of its own", duration(3*d.round))))
		}
	}
	return out
}
