package configs

import (
	"time"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// Config is one configuration file. Its fields mirror the file's sections; the
// last ones say where it came from.
type Config struct {
	Schema int    `toml:"schema" default:"1" required:"true" doc:"version of this schema: 1, so that a later tuner reads an older file rightly"`
	Name   string `toml:"name" required:"true" doc:"name of the loop; part of MQTT topics and of the journal's file name"`
	// A word that is true of most instruments; it only has to keep the MQTT
	// topics of two sites apart, and most brokers serve one.
	Site string `toml:"site" default:"lab" doc:"where the instrument stands; keeps the MQTT topics of two labs apart"`
	// Any number does. A fixed one makes two runs of a file comparable; drawing
	// one would make the first run of every user unrepeatable.
	Seed int64 `toml:"seed" default:"1" bound:">= 0" doc:"seed of every random choice: the same seed gives the same decisions"`
	// Not shorter: serial instruments answer in some ten milliseconds. Not longer:
	// a person who presses stop expects it to act at once.
	Tick time.Duration `toml:"tick" default:"100ms" bound:">= 1ms, <= 1m" doc:"period of the safety layer, of leases and of the watchdog"`

	Plant       *Plant       `toml:"plant" doc:"the simulated plant that stands in for every device in simulate"`
	Objective   Objective    `toml:"objective" required:"true" doc:"what is maximised or minimised"`
	Sensors     []Sensor     `toml:"sensor" required:"true" doc:"a quantity that is measured"`
	Variables   []Variable   `toml:"variable" required:"true" doc:"a quantity that may be set, or that is only measured"`
	ControlSets []ControlSet `toml:"control_set" doc:"variables that one step may control together, and what that costs; none: one set of every variable that can be set"`
	Cost        Cost         `toml:"cost" doc:"what a step costs: control_set.cost + per_step + per_shot*shots + per_move*distance + formula"`
	Policy      Policy       `toml:"policy" required:"true" doc:"who decides, and how"`
	Stop        Stop         `toml:"stop" required:"true" doc:"when the run ends: whichever comes first"`
	Model       Model        `toml:"model" doc:"the Gaussian process behind the policy"`
	Domain      *Domain      `toml:"domain" doc:"a finite set of settings, in place of every value within the ranges"`
	Constraints []Constraint `toml:"constraint" doc:"learnt, advice: a step that breaks it is recorded as infeasible"`
	Safety      Safety       `toml:"safety" doc:"the layer between proposals and setpoints"`
	Devices     []Device     `toml:"device" doc:"a connection to an instrument; the other keys are its driver's"`
	MQTT        *MQTT        `toml:"mqtt" doc:"commands and status of the tuner itself; absent: off"`
	Journal     Journal      `toml:"journal" doc:"the durable run log"`
	Web         *Web         `toml:"web" doc:"the dashboard; absent: off"`
	Notify      *Notify      `toml:"notify" doc:"who is notified when something happens to the run: a webhook, a command, or both; absent: nobody"`
	Declared    []Declared   `toml:"declared" doc:"what a device said of a channel when the run began; tuner run appends it to the file in the journal; do not write it by hand"`
	Socket      *Socket      `toml:"socket" doc:"the Unix socket by which this computer's users command the run; absent: its own user and root alone"`

	// File is the name of the file as given to Load or Parse.
	File string `toml:"-"`
	// Dir is the file's folder: relative paths in the file start there.
	Dir string `toml:"-"`
	// Text holds the file's bytes; SHA256 is their digest in hexadecimal.
	Text   []byte `toml:"-"`
	SHA256 string `toml:"-"`

	asRead
}

// asRead is what reading a file leaves beside its keys.
type asRead struct {
	// Asks are the keys that the file leaves to devices which say themselves what they are, and
	// that have not been asked: see WithDeclared.
	Asks []Ask

	loc   *schema.Locator
	known *Known
	// owned are the structs that have further keys of a section, by its key.
	owned map[string][]any
}

// Plant describes the simulated plant.
type Plant struct {
	Kind string `toml:"kind" required:"true" doc:"which plant stands in for the instrument: laser, growth, dosing, table"`
	// The noise that the plant was modelled on: less would flatter the policy.
	Noise float64 `toml:"noise" default:"1" unit:"1" bound:">= 0" doc:"scale of the shot noise: 0 shows the search without noise"`
	// Drift and faults are for those who ask for them: with drift, the best setting
	// is a moving target and no single regret tells the truth.
	Drift float64 `toml:"drift" unit:"knob range/h" doc:"how fast the optimum moves, to try [policy.drift]"`
	// A detector that suits its range; a smaller one hides the best settings.
	Saturation float64               `toml:"saturation" default:"1" unit:"1" bound:"> 0, <= 1" doc:"share of the energy sensor's range at which the laser's detector saturates"`
	Faults     []string              `toml:"faults" default:"[]" doc:"faults on request, to see how a run reacts, such as dropout@40 or stuck:energy@120"`
	Data       string                `toml:"data" doc:"name of the recorded table that kind table replays"`
	Batch      *time.Duration        `toml:"batch" bound:"> 0s" doc:"simulated duration of one growth batch; absent: the plant's own"`
	Random     map[string]WhenRandom `toml:"random" doc:"how the plant draws a variable that a step leaves random; absent: the variable's when_random, uniform where that is learn"`
}

// Objective says what the run is for. Exactly one of Sensor and Formula is set.
type Objective struct {
	Sensor  string `toml:"sensor" doc:"the sensor whose value is optimised; give this or formula"`
	Formula string `toml:"formula" doc:"an expression over sensors, evaluated at every shot, where no single sensor is what you want"`
	Goal    string `toml:"goal" default:"maximize" enum:"maximize,minimize" doc:"which way is better: a yield is maximized, an error minimized"`
	// One shot costs least, and growth experiments have no second. More are asked
	// for by name, because each costs time.
	Shots int `toml:"shots" default:"1" unit:"shots" bound:">= 1, <= 100000" doc:"readings at one setting: several average the noise and show how large it is"`
	// The mean is what every bound of the policies is proven for.
	Statistic string        `toml:"statistic" default:"mean" doc:"what a step makes of its shots: mean, median, trimmed, or a percentile p1 to p99"`
	Timeout   time.Duration `toml:"timeout" bound:"> 0s" doc:"longest wait for one shot; absent: ten times the largest max_age among the objective's sensors"`
	// As soon as it has answered: what its answer takes is the instrument's own pace.
	Every time.Duration `toml:"every" bound:"> 0s" doc:"least time from the question of one shot to that of the next in a step, for an instrument that renews its value more slowly than it answers; absent: as soon as it has answered with one, and at every tick where a sensor has rate or stuck, in a dry run and in a simulation"`
}

// Sensor is a quantity that is measured.
type Sensor struct {
	Name    string        `toml:"name" required:"true" doc:"name in formulas, logs and other sections; letters, digits and _"`
	Unit    string        `toml:"unit" required:"true" doc:"unit of the value; \"1\" where it has none"`
	Device  string        `toml:"device" required:"true" doc:"the device that measures it, by its name in [[device]]"`
	Channel string        `toml:"channel" required:"true" doc:"the device's own name for it; absent: name"`
	Range   Range         `toml:"range" required:"true" unit:"the sensor's" doc:"plausible values; outside is no data; absent: what the device says"`
	MaxAge  time.Duration `toml:"max_age" required:"true" bound:"> 0s" ticks:"1: every reading would be too old" doc:"a value older than this is no data, so that a dead sensor is not believed"`
	MaxSkew time.Duration `toml:"max_skew" bound:"> 0s" doc:"how far in time from the objective a value may lie within one shot; absent: max_age"`
}

// Variable is a named scalar input. It is set through Device and Channel, or
// only measured, by Sensor.
type Variable struct {
	Name       string    `toml:"name" required:"true" doc:"name in control sets, logs and other sections; letters, digits and _"`
	Unit       string    `toml:"unit" required:"true" doc:"unit of the value; \"1\" where it has none"`
	Kind       string    `toml:"kind" default:"setpoint" enum:"setpoint,dose" doc:"setpoint: a value to go to; dose: an amount added once in each step, 0: nothing, which cannot be taken back"`
	Range      Range     `toml:"range" required:"true" unit:"the variable's" reload:"change" doc:"where the policy may search; narrower searches end sooner"`
	Frozen     *float64  `toml:"frozen" unit:"the variable's" reload:"change" doc:"the one value that the variable is kept at, in every step: it goes there, and no decision varies it; absent: it is tuned"`
	Start      *float64  `toml:"start" unit:"the variable's" reload:"anyway or new" doc:"the setting that the result is compared with; absent: where the instrument stands at the start"`
	Resolution *float64  `toml:"resolution" unit:"the variable's" bound:"> 0" doc:"the device's smallest step, so that no proposal differs by less; absent: continuous"`
	Integer    bool      `toml:"integer" doc:"whole numbers only, for a count or a switch"`
	Levels     []float64 `toml:"levels" unit:"the variable's" doc:"the only values allowed, ascending, for a knob with fixed positions"`
	// Linear: a range that is given in the variable's unit says nothing of its effect.
	Scale    string   `toml:"scale" default:"linear" enum:"linear,log" doc:"log: the model and the search take the logarithm, for a variable whose effect goes with its ratio, such as a concentration from 1 to 100"`
	Device   string   `toml:"device" doc:"the device that sets it, by its name in [[device]]"`
	Channel  string   `toml:"channel" doc:"the device's own name for it; absent: name"`
	Sensor   string   `toml:"sensor" doc:"in place of device and channel: the sensor that measures a variable which nothing sets"`
	Readback Readback `toml:"readback" doc:"when the setting counts as reached"`
	// No wait: the readback within its tolerance is the proof of arrival, and
	// only the user knows what rings on after it.
	Settle time.Duration `toml:"settle" bound:">= 0s" doc:"wait after the readback has arrived, before the first shot"`
	// Holding moves nothing. Letting go of an actuator is for the file to say.
	OnRelease  string     `toml:"on_release" default:"hold" enum:"hold,release,park" doc:"what happens where a step leaves the variable random: hold the last value, let go, or drive to safe"`
	WhenRandom WhenRandom `toml:"when_random" doc:"how the variable is distributed where it is left random"`
	Fidelity   *float64   `toml:"fidelity" unit:"the variable's" doc:"the value that counts, of a variable that only makes readings more accurate and more expensive, such as an integration time; of acquisition mf-mes"`
}

// Readback says when an actuator has arrived.
type Readback struct {
	Tolerance float64 `toml:"tolerance" required:"true" unit:"the variable's" bound:"> 0" doc:"largest distance between setpoint and readback; absent: resolution and accuracy, where the device says them"`
	// Not shorter: a stage on a slow serial line needs a few readings to arrive.
	// Not longer: a device that ignores setpoints should be found within one step.
	Timeout time.Duration `toml:"timeout" default:"5s" bound:"> 0s" doubt:"> 1h: is longer than an hour: an actuator that does not follow is noticed after four times as long; it is the time that one setpoint takes to show" doc:"longest wait for it; later the setpoint is sent again"`
}

// WhenRandom is the distribution of a variable that a step does not control,
// truncated to the variable's range.
type WhenRandom struct {
	// What is not known is learnt; it starts at uniform.
	Distribution string   `toml:"distribution" default:"learn" enum:"learn,uniform,normal" doc:"learn starts at uniform and learns from readings"`
	Mean         *float64 `toml:"mean" unit:"the variable's" doc:"mean of normal, before it is cut to the range"`
	SD           *float64 `toml:"sd" unit:"the variable's" bound:"> 0" doc:"standard deviation of normal, before it is cut to the range"`
}

// ControlSet is a subset of variables that a step controls.
type ControlSet struct {
	Variables []string `toml:"variables" required:"true" doc:"the variables that the step sets; it leaves the others random"`
	Cost      float64  `toml:"cost" unit:"cost.unit" bound:">= 0" reload:"change" doc:"what a step with this set costs; the policy weighs it against what it hopes to learn"`
}

// Cost is what a step costs beside its control set.
type Cost struct {
	Unit    string             `toml:"unit" doc:"what costs are counted in; required where anything costs"`
	PerStep float64            `toml:"per_step" unit:"cost.unit" bound:">= 0" reload:"change" doc:"cost of every step, whatever it sets"`
	PerShot float64            `toml:"per_shot" unit:"cost.unit" bound:">= 0" reload:"change" doc:"cost of every shot, where measuring is what costs"`
	PerMove map[string]float64 `toml:"per_move" unit:"cost.unit per unit moved" bound:">= 0" reload:"change" doc:"cost of moving a variable, where a far move wears or waits"`
	Formula string             `toml:"formula" unit:"cost.unit" doc:"cost of the setting itself, a formula over variables such as \"exp(fidelity)\""`
	Reading string             `toml:"reading" unit:"cost.unit" doc:"what the control set has cost in a step, a formula over sensors, or one: the mean over its shots is charged and learnt; control_set.cost is then the first guess"`
}

// Policy says who decides.
type Policy struct {
	Kind              string    `toml:"kind" required:"true" enum:"@policies" doc:"the algorithm, such as rahbo: a combination of the parts below"`
	Acquisition       string    `toml:"acquisition" enum:"@acquisitions" doc:"what a decision maximises, to combine parts that no kind combines; absent: the kind's own"`
	Risk              *float64  `toml:"risk" unit:"1/(the objective's unit)" bound:">= 0" reload:"change" doc:"alpha of the mean-variance objective f - alpha*variance; required by rahbo"`
	NoiseSD           string    `toml:"noise_sd" unit:"the objective's" doc:"known standard deviation of one shot, a formula over variables such as \"0.1 + 0.3*x^2\"; absent: learnt, or one number that is estimated"`
	Confidence        string    `toml:"confidence" enum:"irgp,constant,rgp,srinivas,data,heuristic" doc:"how the confidence parameter is chosen; absent: the kind's own (gp-ucb and eliminated priors srinivas, costids heuristic), or else irgp"`
	ConfidenceSetting string    `toml:"confidence_setting" enum:"finite,continuous,theory,wide,high-probability,all-priors,expected" doc:"which form of confidence irgp, rgp and srinivas: for a list of settings, for ranges, irgp's that the paper's proof uses, a bolder irgp, irgp's whose bound holds with probability 1 - delta, srinivas for all priors at once, or for the expected regret; absent: finite where [domain] lists candidates, else continuous, for the kinds of the risk-averse paper wide"`
	Schedule          string    `toml:"schedule" enum:"none,auto,etc-ada,etc-50,etc-100,epsilon" doc:"how cheap control sets get their turn; auto begins as etc-ada where [stop] has neither cost nor steps; absent: auto for ucb-cvs (etc-ada where values are per cost), etc-ada for rahbo with control sets, else none"`
	Epsilon           []float64 `toml:"epsilon" unit:"the objective's" bound:">= 0" doc:"how much worse a cheaper control set may be and still be taken, step by step; the last one holds"`
	PerCost           bool      `toml:"per_cost" doc:"divide the acquisition's value by the cost of the step"`
	Initial           Initial   `toml:"initial" doc:"the steps before the first decision"`
	// Not shorter: the maximizer finds its best within some ten milliseconds on a
	// small board. Not longer: half the default tick, so that a decision never
	// costs a whole one.
	Deadline  time.Duration `toml:"deadline" default:"50ms" bound:"> 0s" doc:"longest time for one decision; a late one is cut and takes the best found so far"`
	PriorRule string        `toml:"prior_rule" enum:"averaged,sampled,greedy,elimination" doc:"how priors that compete decide together; absent: the kind's own, or else averaged"`
	Priors    []Prior       `toml:"priors" doc:"hyperparameters that compete, weighted by their evidence; absent: a built-in set"`
	Drift     *Drift        `toml:"drift" doc:"the objective changes with time; absent: it stays as it is"`

	known *Policies // there are, as they were handed in
}

// Drift says how the objective changes with time. At least one of its keys is set.
type Drift struct {
	Timescale Numbers  `toml:"timescale" unit:"steps" bound:"> 0" doc:"steps after which what was measured tells a third as much (1/e); several compete by their evidence"`
	Hold      *float64 `toml:"hold" unit:"fraction of the range" bound:"> 0, <= 1" doc:"largest distance of a proposal from the best setting, once the initial search is over; absent: the whole range"`
	Detect    bool     `toml:"detect" doc:"watch for jumps: forget what was learnt before one, and search again"`
}

// Initial is the design that a run starts with.
type Initial struct {
	// Fills space more evenly than chance, and repeats exactly.
	Design string `toml:"design" default:"sobol" enum:"sobol,random" doc:"how the first settings are spread: sobol covers the range evenly"`
	// Not fewer: lengthscales of a handful of variables need about ten points to
	// be distinguished. Not more: each is a step that nobody decided.
	Steps int `toml:"steps" default:"10" unit:"steps" bound:">= 1, <= 100000" doc:"how many there are before the model decides; more for more variables"`
}

// Prior is one set of hyperparameters. Lengths are fractions of each variable's
// range, because the model sees the unit cube.
type Prior struct {
	Kernel      string   `toml:"kernel" enum:"se,matern32,matern52,rq,periodic,linear" doc:"covariance function, which says how smooth the objective is; absent: model.kernel"`
	Lengthscale Numbers  `toml:"lengthscale" required:"true" unit:"fraction of the range" bound:">= 0.0001, <= 10000" doc:"one number, or one for each variable; of kernel periodic the period"`
	Outputscale *float64 `toml:"outputscale" unit:"the objective's, squared" bound:"> 0, <= 1e100" doc:"prior variance of the objective, how far it varies over the range; absent: estimated"`
	NoiseSD     *float64 `toml:"noise_sd" unit:"the objective's" bound:">= 0, <= 1e50" doc:"standard deviation of one shot, where you know it; absent: estimated"`
	Mean        *float64 `toml:"mean" unit:"the objective's" bound:">= -1e50, <= 1e50" doc:"prior mean of the objective, expected where nothing was measured; absent: estimated"`
	Weight      *float64 `toml:"weight" unit:"1" bound:"> 0" doc:"prior probability, up to a common factor; absent: 1"`
}

// Stop says when the search ends, by at least one of cost, steps and time, and how its
// result is verified then.
type Stop struct {
	Cost  *float64       `toml:"cost" unit:"cost.unit" bound:"> 0" reload:"change" doc:"most that the search may cost; it ends when no step can be paid any more"`
	Steps *int           `toml:"steps" unit:"steps" bound:">= 1" reload:"change" doc:"number of steps after which the search ends, the initial ones included"`
	Time  *time.Duration `toml:"time" bound:"> 0s" reload:"change" doc:"time since the start of the run after which the search ends"`
	// Both are of the recommended setting, after each step.
	Target        *float64       `toml:"target" unit:"the objective's" reload:"change" doc:"good enough: the search ends once the pessimistic bound of the recommended setting has reached it"`
	NoImprovement *NoImprovement `toml:"no_improvement" doc:"the search ends when so much has brought no better pessimistic bound"`
	// After the search, both settings are measured again in turn.
	Verify     *int           `toml:"verify" unit:"pairs" bound:">= 0, <= 16" doc:"how often the recommended and the starting setting are then measured in turn, to tell how sure the improvement is: 0, or 6 to 16 times; absent: 8, and 0 where a variable is a dose"`
	VerifyCost *float64       `toml:"verify_cost" unit:"cost.unit" bound:"> 0" doc:"the most that this may cost, beside cost; absent: a tenth of cost"`
	VerifyTime *time.Duration `toml:"verify_time" bound:"> 0s" doc:"the longest that this may take, beside time; absent: a tenth of time"`
}

// NoImprovement is how long a search goes on without a better bound: at least one of steps
// and cost, whichever is over first.
type NoImprovement struct {
	Steps *int     `toml:"steps" unit:"steps" bound:">= 1" reload:"change" doc:"so many steps of the search, those of the initial design left out"`
	Cost  *float64 `toml:"cost" unit:"cost.unit" bound:"> 0" reload:"change" doc:"so much spent on such steps without a better bound"`
	// Any: a bound creeps up as the same setting is measured again.
	By float64 `toml:"by" unit:"the objective's" bound:">= 0" reload:"change" doc:"a bound that is better by no more than this counts as none"`
}

// Model is the Gaussian process behind the policy.
type Model struct {
	// Twice differentiable: smooth as instruments are, without the endless
	// smoothness of the squared exponential.
	Kernel string `toml:"kernel" default:"matern52" enum:"se,matern32,matern52,rq,periodic,linear" doc:"covariance function, which says how smooth the objective is"`
	// What a single fit gets wrong, others that compete make up for.
	Hyperparameters string `toml:"hyperparameters" default:"priors" enum:"fixed,fit,priors" doc:"fixed: the one entry of policy.priors; fit: marginal likelihood; priors: several, weighted by their evidence"`
	// Lengthscales that grow with the number of variables say less than the range does
	// while there are few of them.
	LengthscalePrior string `toml:"lengthscale_prior" default:"range" enum:"range,dimension" doc:"what is expected of the lengthscales that no prior states: range: about 0.3 of each range; dimension: more with more variables, about 0.2 of a range times their root, and vaguer"`
	// Each: a knob without effect is found, and what all share stays in the competition.
	Lengthscales string `toml:"lengthscales" default:"each" enum:"each,shared" doc:"which lengthscales the built-in set of priors has: each: beside those that all variables share, one prior with a lengthscale for each variable, fitted in the background, which finds variables without effect; shared: only the former, no fits"`
	// What readings ask for decisively pays more often than it harms.
	Transform string `toml:"transform" default:"auto" enum:"auto,none,learnt" doc:"whether the objective is learnt through a logarithm of how far it is from its best or worst reading: none; learnt: from when the readings ask for one a hundred times more strongly than for none; auto: learnt where nothing is given or compared in the objective's own unit, such as risk, random variables, drift or a prior. A logarithm of your own is a formula in [objective]"`
	// Not smaller: weeks of steps should fit before the first is forgotten. Not
	// larger: memory and the time of a decision grow with its square, 8 MB a factor
	// at this size.
	Capacity int `toml:"capacity" default:"1024" unit:"observations" bound:">= 16, <= 4096" doc:"how many observations the model keeps; where priors compete and this is not written, 512"`
	// Where a run begins, not where it goes on: a journal has where it began.
	WarmStart []string `toml:"warm_start" doc:"journals (.db) and tables (.csv) of earlier runs: a new run's model starts from their observations, each in place of a step of the initial design"`
}

// Domain is a finite set of settings.
type Domain struct {
	Candidates string `toml:"candidates" required:"true" doc:"a CSV file headed by the variables' names, or \"table\": the rows of the plant's own table"`
}

// Constraint is a learnt bound on a sensor.
type Constraint struct {
	Sensor      string   `toml:"sensor" required:"true" doc:"the sensor that is bounded; a model of its own learns where it stays within"`
	Range       Range    `toml:"range" required:"true" unit:"the sensor's" doc:"values that are allowed; a setting that leaves them is not recommended"`
	Probability *float64 `toml:"probability" unit:"1" bound:"> 0, < 1" doc:"how probable a setting must be, by what was learnt, to keep the range before it is tried; absent: 0.95"`
}

// Journal is the durable run log.
type Journal struct {
	Path string `toml:"path" doc:"the journal's file; absent: NAME.db in $STATE_DIRECTORY, else in the working folder"`
	// Not less: the end of a run, its log and a report need room. Not more: an SD card
	// of a small board has little.
	MinFree float64 `toml:"min_free" default:"50" unit:"MB" bound:">= 0, <= 10000000" doc:"the free space on the journal's disk below which the run is held; twice as much is worth a warning; 0: it is not looked at"`
	// What was measured is its owner's to show.
	Mode string `toml:"mode" default:"0600" enum:"0600,0640,0644" doc:"who may read a new journal: 0600 its user alone, 0640 also the user's group, 0644 everybody; one that is there keeps its mode"`
}

// Socket says who beside the run's own user may command it from this computer.
type Socket struct {
	Folder string `toml:"folder" doc:"where the socket is; absent: $RUNTIME_DIRECTORY, else tuner in $XDG_RUNTIME_DIR, else tuner-UID in the temporary folder, where other users do not get in"`
	Owner  string `toml:"owner" doc:"a user, by name or number, who may command; only root can give it away"`
	Group  string `toml:"group" doc:"a group, by name or number, whose members may command"`
}

// Web is the dashboard.
type Web struct {
	Listen string   `toml:"listen" required:"true" doc:"address that the dashboard listens on; 127.0.0.1:8420 is seen by this computer only"`
	Hosts  []string `toml:"hosts" doc:"further host names that a browser may ask for, beside the address itself"`
	Token
	CertFile      string `toml:"cert_file" doc:"the server's TLS certificate (PEM); beyond this computer TLS is required"`
	KeyFile       string `toml:"key_file" doc:"the private key (PEM) of cert_file"`
	AllowInsecure bool   `toml:"allow_insecure" doc:"serve beyond this computer without TLS: anyone who listens on the network can read the token"`
}

// Token names where a token is kept; at most one of its keys is set. The token itself
// never stands in the file.
type Token struct {
	TokenFile       string `toml:"token_file" doc:"a file that holds the token, which a browser must show; beyond this computer it is required; none is named: the page is read by everybody here, and tuner run makes a token for commands"`
	TokenCredential string `toml:"token_credential" doc:"a systemd credential (LoadCredential=) that holds it, for a service"`
	TokenEnv        string `toml:"token_env" doc:"an environment variable that holds it, for a container"`
}

// Given says that a token is kept somewhere.
func (t Token) Given() bool { return t.TokenFile+t.TokenCredential+t.TokenEnv != "" }
