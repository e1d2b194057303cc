package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/labtuner/tuner/configs"
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
		words := "for nothing: it overtakes what is under way"
		if most := d.safeWait(); most > 0 {
			words = "for the request under way, " + duration(most) + " at most"
			if slices.ContainsFunc(w.opt.Variables, func(v plan.Variable) bool { return v.Dose && v.Channel.Device == i }) && d.driver == "exec" {
				words += "; for a dose until it has been given, where the child answers only then"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\n", d.name, d.driver, words)
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
