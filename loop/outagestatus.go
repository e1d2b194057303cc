package loop

import (
	"math"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// addOutages adds how devices and disk stand.
func (l *Loop) addOutages(s *control.Status, now time.Time) {
	o := &l.opt.Outages
	s.Devices = []control.DeviceStatus{}
	for _, k := range l.links {
		m := &k.mend
		d := control.DeviceStatus{Name: k.name, Out: m.out || k.dead != nil, OutFor: journal.Number(math.NaN()), Held: m.spent,
			Retries: o.Retries, Window: control.Seconds(o.Window), Trouble: k.trouble}
		for _, at := range m.failed {
			if now.Sub(at) <= o.Window {
				d.Failures++
			}
		}
		if m.out {
			d.OutFor = control.Seconds(now.Sub(m.since))
		}
		s.Devices = append(s.Devices, d)
	}
	problem := l.diskProblem()
	s.Disk = control.DiskStatus{Due: l.recorder.Due(), Held: problem != "", Problem: problem, Free: journal.Number(math.NaN()), Least: journal.Number(o.MinFree)}
	if bytes, known := l.recorder.Free(); known {
		s.Disk.Free = journal.Number(bytes)
	}
}
