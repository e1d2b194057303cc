package configs

import "time"

// Safety is the layer between proposals and setpoints.
type Safety struct {
	// A sensor that misses a reading mostly comes back: moving first would turn
	// every hiccup into a disturbance.
	OnStale string `toml:"on_stale" default:"hold" enum:"hold,fallback" doc:"what follows a stale sensor: hold, then fallback after hold_max; or fallback at once"`
	// Not shorter: a child that averages a reading takes a second, and has two by default.
	// Not longer: it is added to the time from a fault to safety.
	SafeWait time.Duration `toml:"safe_wait" default:"2s" bound:"> 0s, <= 1h" reload:"smaller" doc:"longest that a safe value may wait for the request under way on a device with actuators, where nothing can overtake it (exec, serial): no time-out of a request there may be longer"`
	// A night must not be lost to twenty minutes without a broker.
	Outage      string                    `toml:"outage" default:"wait" enum:"wait,end" doc:"what follows a longer outage of the instrument: wait (held, then fallen back, until it is back), or end the run"`
	Explore     *float64                  `toml:"explore" unit:"fraction of the range" bound:"> 0, <= 1" reload:"smaller or new" doc:"how far from the nearest known-safe setting a step may go; absent: anywhere within the limits"`
	Variables   map[string]SafetyVariable `toml:"variable" doc:"limits and reactions of one actuator"`
	Sensors     map[string]SafetySensor   `toml:"sensor" doc:"plausibility of one sensor in time"`
	Interlocks  []Interlock               `toml:"interlock" doc:"must be fresh and true, else trip; latched"`
	Permissives []Interlock               `toml:"permissive" doc:"must be fresh and true to arm and start"`
	Responses   []Response                `toml:"response" doc:"a change of an actuator must show, else trip; latched"`
	Doses       []Dose                    `toml:"dose" doc:"budget of what a variable adds: each dose of one of kind dose, of any other the rise of each destination above the last readback"`
	Bypasses    []Bypass                  `toml:"bypass" doc:"a rule that is set aside for a while, visibly"`
}

// SafetyVariable holds the limits and reactions of one actuator. Either Slew or
// both SlewUp and SlewDown are set: see Slews.
type SafetyVariable struct {
	Hard     Range    `toml:"hard" required:"true" unit:"the variable's" reload:"inside" doc:"limits that no setpoint passes, whatever asks for it"`
	Slew     *float64 `toml:"slew" unit:"the variable's, per s" bound:"> 0" reload:"smaller" doc:"fastest change, both ways: what the instrument tolerates without harm"`
	SlewUp   *float64 `toml:"slew_up" unit:"the variable's, per s" bound:"> 0" reload:"smaller" doc:"fastest rise, where it may differ from the fall"`
	SlewDown *float64 `toml:"slew_down" unit:"the variable's, per s" bound:"> 0" reload:"smaller" doc:"fastest fall, where it may differ from the rise"`
	Safe     float64  `toml:"safe" required:"true" unit:"the variable's" doc:"the value that harms nothing: a stop goes there at once"`
	// Staying put is right for whatever is not dangerous in itself; what is must
	// say safe or off.
	OnFault string `toml:"on_fault" default:"hold" enum:"hold,safe,off" doc:"reaction to a fault: stay, go to safe, let go"`
	// Read, never drive: the tuner starts from where the instrument is.
	Boot string `toml:"boot" default:"read" enum:"read,safe,off" doc:"what happens at the start, after the first read"`
	// What the user tuned is what the user finds.
	Shutdown string         `toml:"shutdown" default:"hold" enum:"hold,safe,off" doc:"what is left behind at the end of a run: stay (with exposure or duty at most at their above), go to safe, let go"`
	Lease    *time.Duration `toml:"lease" bound:"> 0s" ticks:"3: the setpoint is rewritten at a third of it; shorten tick, or give the device a longer timeout" doubt:"> 1h: is longer than an hour: that long a device goes on alone when this computer dies; it is the device's own timeout" doc:"the device's own timeout; the setpoint is rewritten at a third of it"`
	Exposure *Exposure      `toml:"exposure" doc:"longest time in a row above a value; absent: no limit"`
	Duty     *Duty          `toml:"duty" doc:"largest part of any window of time above a value; absent: no limit"`
}

// Exposure limits the time that a variable may spend above a value.
type Exposure struct {
	Above float64       `toml:"above" required:"true" unit:"the variable's" reload:"smaller or new" doc:"the value above which time is counted"`
	Time  time.Duration `toml:"time" required:"true" bound:"> 0s" reload:"smaller or new" doubt:"> 168h: is longer than a week" doc:"the longest time above it in a row, for what overheats or bleaches"`
}

// Duty limits the part of the time that a variable may spend above a value.
type Duty struct {
	Above    float64       `toml:"above" required:"true" unit:"the variable's" doc:"the value above which time is counted"`
	Fraction float64       `toml:"fraction" required:"true" unit:"of the window" bound:"> 0, < 1" doc:"the largest part of any window above it, for what must cool down between"`
	Window   time.Duration `toml:"window" required:"true" bound:"> 0s" ticks:"20" doc:"length of the stretch of time in which the fraction is counted"`
}

// SafetySensor bounds how a sensor may behave in time.
type SafetySensor struct {
	Agree *Agree `toml:"agree" doc:"another sensor that must agree; absent: none"`
}

// Agree compares two sensors.
type Agree struct {
	Sensor    string        `toml:"sensor" required:"true" doc:"the sensor that must show the same"`
	Tolerance float64       `toml:"tolerance" required:"true" unit:"the sensor's" bound:"> 0" reload:"smaller" doc:"largest difference between the two that is still agreement"`
	Time      time.Duration `toml:"time" required:"true" bound:"> 0s" reload:"smaller" ticks:"1" doubt:"> 24h: is longer than a day; it is how long the two may differ" doc:"how long they may differ before the run is held"`
}

// Interlock is a condition on a sensor, of an interlock or of a permissive.
type Interlock struct {
	Sensor string `toml:"sensor" required:"true" doc:"the sensor that is looked at; a silent one counts as unhealthy"`
	Range  Range  `toml:"range" required:"true" unit:"the sensor's" reload:"inside" doc:"the values that mean healthy, such as a closed door"`
}

// Response asks that a change of a variable shows.
type Response struct {
	Variable string        `toml:"variable" required:"true" doc:"the variable whose changes must show"`
	Sensor   string        `toml:"sensor" doc:"the sensor that must move; absent: the variable's own readback"`
	Change   float64       `toml:"change" required:"true" unit:"the variable's" bound:"> 0" doc:"smallest change, or dose, that must show; a smaller one is lost in the noise"`
	Moves    float64       `toml:"moves" required:"true" unit:"of what moves" doc:"how far it must move; negative: the other way, as pH by acid"`
	Within   time.Duration `toml:"within" required:"true" bound:"> 0s" reload:"smaller" ticks:"1" doubt:"> 24h: is longer than a day: for so long nothing notices a failure" doc:"longest time until it must have moved, else the run trips"`
}

// Dose is the budget of one variable.
type Dose struct {
	Variable    string         `toml:"variable" required:"true" doc:"the variable that adds something"`
	Unit        string         `toml:"unit" required:"true" doc:"the variable's unit, repeated, so that a budget cannot be in another"`
	PerDose     float64        `toml:"per_dose" required:"true" unit:"the dose's" bound:"> 0" reload:"smaller" doc:"most in one dose: what a single mistake may add"`
	Hour        *float64       `toml:"hour" unit:"the dose's" bound:"> 0" reload:"smaller or new" doc:"most in any hour, restarts included"`
	Day         *float64       `toml:"day" unit:"the dose's" bound:"> 0" reload:"smaller or new" doc:"most in any day, restarts included"`
	Run         *float64       `toml:"run" unit:"the dose's" bound:"> 0" reload:"smaller or new" doc:"most in the whole run, of one journal"`
	Reservoir   *float64       `toml:"reservoir" unit:"the dose's" bound:"> 0" doc:"what the reservoir holds until you refill it and run tuner reset --refilled; absent: unlimited"`
	MinInterval *time.Duration `toml:"min_interval" bound:"> 0s" reload:"larger or new" doc:"shortest time between doses: the time until one has mixed in"`
	OnFault     string         `toml:"on_fault" enum:"off,hold" doc:"of kind dose: what becomes of a dose that runs when something is wrong: off stops it, where the device can, hold lets it end; absent: off"`
}

// Bypass sets a rule aside.
type Bypass struct {
	Rule  int       `toml:"rule" required:"true" bound:">= 1, <= 31" doc:"the number of the safety rule that is set aside"`
	Who   string    `toml:"who" required:"true" doc:"the person who answers for it; it is recorded"`
	Why   string    `toml:"why" required:"true" doc:"the reason, which is recorded and shown"`
	Until time.Time `toml:"until" required:"true" doc:"when it ends by itself: a date and time with its offset"`
}
