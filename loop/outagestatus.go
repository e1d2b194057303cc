package loop

import (
	"math"
	"time"
)

// DeviceStatus is how one device stands: up to Retries failures within the window of the
// file are mended unseen.
type DeviceStatus struct {
	Name string `json:"name"`
	// Out says that its last call failed, for how long. Held says that its budget is
	// spent, and the run is held for it.
	Out    bool   `json:"out"`
	OutFor Number `json:"out_for_s"`
	Held   bool   `json:"held"`
	// Failures of Retries within Window have been seen; Trouble is the last one's words.
	Failures int    `json:"failures"`
	Retries  int    `json:"retries"`
	Window   Number `json:"window_s"`
	Trouble  string `json:"trouble"`
}

// DiskStatus is how the record stands.
type DiskStatus struct {
	// Due counts the records that wait to be written, Held says that the run waits for
	// them or for space, and Problem why.
	Due     int    `json:"due"`
	Held    bool   `json:"held"`
	Problem string `json:"problem"`
	// Free and Least are the bytes that are free and those that must be; Free is null
	// where nobody has looked.
	Free  Number `json:"free_bytes"`
	Least Number `json:"least_bytes"`
}

// addOutages adds how devices and disk stand.
func (l *Loop) addOutages(s *Status, now time.Time) {
	o := &l.opt.Outages
	s.Devices = []DeviceStatus{}
	for _, k := range l.links {
		m := &k.mend
		d := DeviceStatus{Name: k.name, Out: m.out || k.dead != nil, OutFor: Number(math.NaN()), Held: m.spent,
			Retries: o.Retries, Window: seconds(o.Window), Trouble: k.trouble}
		for _, at := range m.failed {
			if now.Sub(at) <= o.Window {
				d.Failures++
			}
		}
		if m.out {
			d.OutFor = seconds(now.Sub(m.since))
		}
		s.Devices = append(s.Devices, d)
	}
	r := &l.recorder
	s.Disk = DiskStatus{Due: len(r.queue), Held: l.diskHolds(), Free: Number(math.NaN()), Least: Number(o.MinFree)}
	if s.Disk.Held {
		s.Disk.Problem = l.diskWords()
	}
	if l.space.known {
		s.Disk.Free = Number(l.space.free)
	}
}
