package configs

import (
	"path/filepath"
)

// Sensor returns the [[sensor]] of a name.
func (c *Config) Sensor(name string) (*Sensor, bool) {
	return find(c.Sensors, name, func(s *Sensor) string { return s.Name })
}

// Variable returns the [[variable]] of a name.
func (c *Config) Variable(name string) (*Variable, bool) {
	return find(c.Variables, name, func(v *Variable) string { return v.Name })
}

// Device returns the [[device]] of a name.
func (c *Config) Device(name string) (*Device, bool) {
	return find(c.Devices, name, func(d *Device) string { return d.Name })
}

func find[T any](list []T, name string, nameOf func(*T) string) (*T, bool) {
	for i := range list {
		if nameOf(&list[i]) == name {
			return &list[i], true
		}
	}
	return nil, false
}

// HasActuator reports whether something can set the variable. One without is
// always random.
func (v *Variable) HasActuator() bool { return v.Device != "" }

// Sets returns the control sets of the file; where it has none, one set of every
// variable that can be set, at no cost of its own.
func (c *Config) Sets() []ControlSet {
	if len(c.ControlSets) > 0 {
		return c.ControlSets
	}
	var all ControlSet
	for i := range c.Variables {
		if c.Variables[i].HasActuator() {
			all.Variables = append(all.Variables, c.Variables[i].Name)
		}
	}
	return []ControlSet{all}
}

// Slews returns the fastest rise and fall, in the variable's unit per second.
func (v SafetyVariable) Slews() (up, down float64) {
	if v.Slew != nil {
		return *v.Slew, *v.Slew
	}
	if v.SlewUp != nil {
		up = *v.SlewUp
	}
	if v.SlewDown != nil {
		down = *v.SlewDown
	}
	return up, down
}

// Path resolves a path of the file against the file's folder.
func (c *Config) Path(p string) string {
	if p == "" || c.Dir == "" || filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(c.Dir, p)
}

// JournalPath is where the journal lies: [journal] path, or else NAME.db in
// stateDir (the value of $STATE_DIRECTORY), or else in the working folder.
func (c *Config) JournalPath(stateDir string) string {
	if c.Journal.Path != "" {
		return c.Path(c.Journal.Path)
	}
	return filepath.Join(stateDir, c.Name+".db")
}

// Problem makes a Problem of a key named as messages name it, such as
// "policy.kind" or "variable.mirror_x.device", with the key's line in the file.
func (c *Config) Problem(key, what, hint string) Problem {
	return c.loc.Labelled(key, what, hint)
}
