package configs

// derive fills what a file leaves to the policy's kind.
func (p *Policy) derive() {
	parts := p.Parts()
	p.Confidence, p.Schedule = parts.Confidence, parts.Schedule
}

// shotTimeoutAges is how many times its max_age an objective may be waited for.
// Not fewer: a source that publishes once per max_age must be able to miss
// several. Not more: a dead source should end the step, not the day.
const shotTimeoutAges = 10

// derive fills the defaults that depend on other keys of a file.
func (c *Config) derive() {
	c.Policy.derive()
	for i := range c.Sensors {
		// Not less: a reading that is fresh enough alone is fresh enough in company,
		// unless the file says otherwise.
		if s := &c.Sensors[i]; s.MaxSkew == 0 {
			s.MaxSkew = s.MaxAge
		}
	}
	if c.Objective.Timeout == 0 {
		for _, name := range c.ObjectiveSensors() {
			if s, ok := c.Sensor(name); ok {
				c.Objective.Timeout = max(c.Objective.Timeout, shotTimeoutAges*s.MaxAge)
			}
		}
	}
}
