package safety

// unmet adds the conditions that do not hold: what is missing or old counts as
// wrong, so a cut wire trips.
func (x *pass) unmet(conditions []Condition, r Rule, to *Causes) {
	for i, c := range conditions {
		s := &x.s.Sensor[c.Sensor]
		if !x.fresh(c.Sensor) || s.Last.Value < c.Low || s.Last.Value > c.High {
			to.Add(r, i)
		}
	}
}

// unpermitted adds the permissives that are not met, unless they are set aside.
func (x *pass) unpermitted(to *Causes) {
	if !x.out.Bypassed.Has(RulePermissive) {
		x.unmet(x.l.Permissives, RulePermissive, to)
	}
}

// fresh reports whether a sensor's last value is current.
func (x *pass) fresh(i int) bool {
	s := &x.s.Sensor[i]
	return s.Last.finite() && x.now-s.Last.At <= x.l.Sensors[i].MaxAge
}

// watchSensors adds what the readings themselves have shown, and silence.
func (x *pass) watchSensors(active *Causes) {
	for i := range x.l.Sensors {
		l, s := &x.l.Sensors[i], &x.s.Sensor[i]
		if l.Watched && !x.fresh(i) {
			active.Add(RuleStale, i)
		}
		if l.Watched && s.OutOfRange >= rangeMax {
			active.Add(RuleRange, i)
		}
		if s.spikes() >= spikesMax {
			active.Add(RuleSpike, i)
		}
		if l.Stuck > 0 && s.Same >= l.Stuck && s.OutputMoved {
			active.Add(RuleStuck, i)
		}
		if l.Tolerance > 0 && x.disagree(i) {
			active.Add(RuleDisagree, i)
		}
	}
}

// disagree reports whether two fresh sensors have differed for too long.
func (x *pass) disagree(i int) bool {
	l, s := &x.l.Sensors[i], &x.s.Sensor[i]
	other := &x.s.Sensor[l.With]
	differ := s.Last.Value - other.Last.Value
	if !x.fresh(i) || !x.fresh(l.With) || differ <= l.Tolerance && differ >= -l.Tolerance {
		s.Differs = false
		return false
	}
	if !s.Differs {
		s.Differs, s.DiffersSince = true, x.now
	}
	return x.now-s.DiffersSince > l.AgreeTime
}

// watchLinks adds the links that have been silent for too long.
func (x *pass) watchLinks(active *Causes) {
	for d := range x.l.Links {
		heard := &x.in.Heard[d]
		if x.l.Comms > 0 && x.l.Links[d].Watched && !(heard.Known && x.now-heard.At <= x.l.Comms) {
			active.Add(RuleComms, d)
		}
	}
}
