package configs

import "time"

// Every default of the schema stands in this file, with why it is not smaller
// and not larger. A key that is a pointer has no default: nil means absent.

// Default returns a configuration with every default set and nothing else: no
// name, no objective, no sensors, no variables.
func Default() *Config {
	c := &Config{}
	c.SetDefaults()
	return c
}

// SetDefaults sets the defaults of the top level and of every section that is
// not repeated.
func (c *Config) SetDefaults() {
	c.Schema = schemaVersion
	// A word that is true of most instruments; it only has to keep the MQTT
	// topics of two sites apart, and most brokers serve one.
	c.Site = "lab"
	// Any number does. A fixed one makes two runs of a file comparable; drawing
	// one would make the first run of every user unrepeatable.
	c.Seed = 1
	// Not shorter: serial instruments answer in some ten milliseconds. Not longer:
	// a person who presses stop expects it to act at once.
	c.Tick = 100 * time.Millisecond
	c.Objective.SetDefaults()
	c.Policy.SetDefaults()
	c.Model.SetDefaults()
	c.Safety.SetDefaults()
	c.Journal.SetDefaults()
}

// SetDefaults sets the defaults of [plant].
func (p *Plant) SetDefaults() {
	// The noise that the plant was modelled on: less would flatter the policy.
	p.Noise = 1
	// Drift and faults are for those who ask for them: with drift, the best setting
	// is a moving target and no single regret tells the truth.
	p.Drift = 0
	// A detector that suits its range; a smaller one hides the best settings.
	p.Saturation = 1
	p.Faults = []string{}
}

// SetDefaults sets the defaults of [objective].
func (o *Objective) SetDefaults() {
	o.Goal = "maximize"
	// One shot costs least, and growth experiments have no second. More are asked
	// for by name, because each costs time.
	o.Shots = 1
	// The mean is what every bound of the policies is proven for.
	o.Statistic = "mean"
}

// SetDefaults sets the defaults of one [[variable]].
func (v *Variable) SetDefaults() {
	v.Kind = "setpoint"
	v.Readback.SetDefaults()
	// No wait: the readback within its tolerance is the proof of arrival, and
	// only the user knows what rings on after it.
	v.Settle = 0
	// Holding moves nothing. Letting go of an actuator is for the file to say.
	v.OnRelease = "hold"
	v.WhenRandom.SetDefaults()
}

// SetDefaults sets the defaults of readback.
func (r *Readback) SetDefaults() {
	// Not shorter: a stage on a slow serial line needs a few readings to arrive.
	// Not longer: a device that ignores setpoints should be found within one step.
	r.Timeout = 5 * time.Second
}

// SetDefaults sets the defaults of when_random.
func (w *WhenRandom) SetDefaults() {
	// What is not known is learnt; it starts at uniform.
	w.Distribution = "learn"
}

// SetDefaults sets the defaults of [policy].
func (p *Policy) SetDefaults() {
	// The logarithm of a sample variance has sampling noise of known size
	// whatever the variance is; the variance itself has not.
	p.VarianceModel = "log"
	p.Initial.SetDefaults()
	// Not shorter: the maximizer finds its best within some ten milliseconds on a
	// small board. Not longer: half the default tick, so that a decision never
	// costs a whole one.
	p.Deadline = 50 * time.Millisecond
}

// SetDefaults sets the defaults of initial.
func (i *Initial) SetDefaults() {
	// Fills space more evenly than chance, and repeats exactly.
	i.Design = "sobol"
	// Not fewer: lengthscales of a handful of variables need about ten points to
	// be told apart. Not more: each is a step that nobody decided.
	i.Steps = 10
}

// SetDefaults sets the defaults of [model].
func (m *Model) SetDefaults() {
	// Twice differentiable: smooth as instruments are, without the endless
	// smoothness of the squared exponential.
	m.Kernel = "matern52"
	// Never refits, so no step is slow.
	m.Hyperparameters = "priors"
	// Not smaller: weeks of steps should fit before the first is forgotten. Not
	// larger: memory and the time of a decision grow with its square, 8 MB a factor
	// at this size.
	m.Capacity = 1024
}

// SetDefaults sets the defaults of [safety].
func (s *Safety) SetDefaults() {
	// A sensor that misses a reading mostly comes back: moving first would turn
	// every hiccup into a disturbance.
	s.OnStale = "hold"
	// Not shorter: a broker or a serial adapter reconnects within it. Not longer:
	// what is held may be drifting unseen.
	s.HoldMax = 30 * time.Second
	// As long as a hold: losing a link and losing a sensor look the same from here.
	s.CommsTimeout = 30 * time.Second
	// Not shorter: a child that averages a reading takes a second, and has two by default.
	// Not longer: it is added to the time from a fault to safety.
	s.SafeWait = 2 * time.Second
	// Not fewer: one garbled answer, or a child that died once, should pass unseen.
	// Not more: what fails four times in half a minute is out of order.
	s.Retries = 3
	// As long as a hold: losing a device in steps is like losing it at once.
	s.RetryWindow = 30 * time.Second
	// A night must not be lost to twenty minutes without a broker.
	s.Outage = "wait"
}

// SetDefaults sets the defaults of [journal].
func (j *Journal) SetDefaults() {
	// Not less: the end of a run, its log and a report need room. Not more: an SD card
	// of a small board has little.
	j.MinFree = 50
	// What was measured is its owner's to show.
	j.Mode = "0600"
}

// SetDefaults sets the defaults of one [safety.variable.X].
func (v *SafetyVariable) SetDefaults() {
	// One tick: the layer writes at most once in each anyway.
	v.Dwell = 0
	// Staying put is right for whatever is not dangerous in itself; what is must
	// say safe or off.
	v.OnFault = "hold"
	// Read, never drive: the tuner starts from where the instrument is.
	v.Boot = "read"
	// What the user tuned is what the user finds.
	v.Shutdown = "hold"
}

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
