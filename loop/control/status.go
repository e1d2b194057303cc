package control

import (
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
)

// Status is a run at one instant, right after a tick. It is made anew for each tick and
// then never changed, so it may be kept and read by any goroutine; its size is bounded by
// the numbers of variables, sensors, constraints, doses and devices. Every number has its unit in
// its name (_s: seconds) or beside it. As JSON it is what MQTT, the dashboard and tuner
// status show; members may be added, and none changes its meaning.
type Status struct {
	// Session names this process's run, Run the journal's run (over all sessions).
	Session string `json:"session"`
	Run     string `json:"run"`
	// Name and Site are the configuration's, Journal the journal's path.
	Name    string `json:"name"`
	Site    string `json:"site"`
	Journal string `json:"journal"`
	// Mode is how it was started, DryRun says that nothing is written.
	Mode   plan.Mode `json:"mode"`
	DryRun bool      `json:"dry_run"`
	// State is one of: starting, disarmed, armed, running, held, fallen back, tripped,
	// stopped, ending, ended. Since is when it began, Paused that a person holds it, PausedBy
	// who, and by which way ("" where that is not known, or nobody does).
	State    string         `json:"state"`
	Since    time.Time      `json:"since"`
	For      journal.Number `json:"for_s"`
	Paused   bool           `json:"paused"`
	PausedBy string         `json:"paused_by"`
	// Phase is where the step is (choosing, moving, settling, measuring, ...).
	Phase    string         `json:"phase"`
	PhaseFor journal.Number `json:"phase_for_s"`
	// Causes hold now or are latched; FirstOut came first. Reason says why the run ends or
	// ended, and Error what went wrong; both are empty while it goes on.
	Causes   []Cause `json:"causes"`
	FirstOut []Cause `json:"first_out"`
	Reason   string  `json:"reason"`
	Error    string  `json:"error"`
	// Started and Ticked are the beginning of this process's run and the last tick, by both
	// clocks.
	Started Instant `json:"started"`
	Ticked  Instant `json:"ticked"`

	// Step is the step under way, Steps how many were concluded. Struck are those of them that
	// the model does not know, in their order.
	Step   int   `json:"step"`
	Steps  int   `json:"steps"`
	Struck []int `json:"struck,omitempty"`
	// Failures counts failed steps in a row; FailureLimit of them hold the run, or end it.
	Failures     int `json:"failures"`
	FailureLimit int `json:"failure_limit"`
	// Spent of Budget, in CostUnit; Budget and StepLimit are 0 where nothing bounds.
	Spent     journal.Number `json:"spent"`
	Budget    journal.Number `json:"budget"`
	CostUnit  string         `json:"cost_unit"`
	StepLimit int            `json:"step_limit"`
	// Elapsed over all sessions, of TimeLimit (0: none). Left is the estimated time until
	// the earliest stop condition, null where unknown.
	Elapsed   journal.Number `json:"elapsed_s"`
	TimeLimit journal.Number `json:"time_limit_s"`
	Left      journal.Number `json:"left_s"`

	Objective ObjectiveStatus `json:"objective"`
	// Decision is the newest one, nil before the first; Outcome the last concluded step's.
	Decision    *DecisionStatus    `json:"decision"`
	Outcome     *OutcomeStatus     `json:"outcome"`
	Variables   []VariableStatus   `json:"variables"`
	Sensors     []SensorStatus     `json:"sensors"`
	Recommended *RecommendedStatus `json:"recommended"`
	Constraints []ConstraintStatus `json:"constraints"`
	Doses       []DoseStatus       `json:"doses"`
	// Devices and Disk say what fails, and how much of what is tolerated that has used up.
	Devices []DeviceStatus `json:"devices"`
	Disk    DiskStatus     `json:"disk"`
	// Comparison tells of the re-measuring at the end, nil before the search has ended.
	Comparison *ComparisonStatus `json:"comparison"`
}

// Telemetry is what changes of a status by itself, for those who log it.
type Telemetry struct {
	Session   string           `json:"session"`
	At        time.Time        `json:"at"`
	Mono      journal.Number   `json:"mono_s"`
	State     string           `json:"state"`
	Phase     string           `json:"phase"`
	Step      int              `json:"step"`
	Spent     journal.Number   `json:"spent"`
	CostUnit  string           `json:"cost_unit"`
	Variables []VariableStatus `json:"variables"`
	Sensors   []SensorStatus   `json:"sensors"`
}

// Telemetry is the present values.
func (s *Status) Telemetry() Telemetry {
	return Telemetry{Session: s.Session, At: s.Ticked.Wall, Mono: s.Ticked.Mono, State: s.State, Phase: s.Phase, Step: s.Step,
		Spent: s.Spent, CostUnit: s.CostUnit, Variables: s.Variables, Sensors: s.Sensors}
}

// Instant is a time by both clocks: Wall may jump, Mono is the time since the process's
// run began.
type Instant struct {
	Wall time.Time      `json:"wall"`
	Mono journal.Number `json:"mono_s"`
}

// Cause is a safety rule that asks for something, and the sensor, variable or device that
// it is about ("" for none). Text says it in words.
type Cause struct {
	Rule    string `json:"rule"`
	Of      string `json:"of"`
	Latched bool   `json:"latched"`
	Text    string `json:"text"`
}

// ObjectiveStatus is what is tuned.
type ObjectiveStatus struct {
	Name     string `json:"name"`
	Unit     string `json:"unit"`
	Minimize bool   `json:"minimize"`
}

// DecisionStatus is the newest decision. Requested, Applied and Achieved have one entry
// per variable, in their order: by the policy, after the safety layer, as read back
// (null: random, or not there yet).
type DecisionStatus struct {
	Step       int              `json:"step"`
	ControlSet []string         `json:"control_set"`
	Requested  []journal.Number `json:"requested"`
	Applied    []journal.Number `json:"applied"`
	Achieved   []journal.Number `json:"achieved"`
	// Clamped lists the safety rules that changed a value, as "VARIABLE: RULE".
	Clamped []string `json:"clamped"`
	// Work counts the units of work that its search did; Cut says that the deadline ended it
	// before it was complete, Cuts of how many decisions it has done so in this process's run.
	Work     int            `json:"work"`
	Cut      bool           `json:"cut"`
	Cuts     int            `json:"cuts"`
	Deadline journal.Number `json:"deadline_s"`
	// Why is the policy's explanation, a JSON object of numbers; Because the same in words.
	Why     json.RawMessage `json:"why"`
	Because string          `json:"because"`
	At      time.Time       `json:"at"`
}

// DecisionOf is a decision as a status has it, but for what changes after it, which Now adds.
func DecisionOf(o *plan.Options, d *journal.Decision) *DecisionStatus {
	s := &DecisionStatus{Step: d.Step, ControlSet: o.SetNames(d.ControlSet), Requested: journal.Numbers(d.Requested), Applied: journal.Numbers(d.Applied),
		Clamped: []string{}, Work: d.Work, Cut: d.Cut, Why: json.RawMessage(d.Why), Because: Because(d), At: d.At.Wall.Round(0).UTC()}
	if !json.Valid(s.Why) {
		s.Why = json.RawMessage("{}")
	}
	for _, r := range d.Reasons {
		s.Clamped = append(s.Clamped, fmt.Sprintf("%s: %s", r.Variable, r.Rule))
	}
	return s
}

// Now is the decision with what has become of it: last is the last outcome, nil before the first, cuts counts the decisions
// that the deadline has cut, and v shows where variables are.
func (s DecisionStatus) Now(o *plan.Options, last *journal.Outcome, cuts int, v plan.View) *DecisionStatus {
	s.Cuts, s.Deadline, s.Achieved = cuts, Seconds(o.Deadline), make([]journal.Number, len(o.Variables))
	done := last != nil && last.Step == s.Step
	for i := range o.Variables {
		at := math.NaN()
		switch e := v.Variable(i); {
		case done:
			at = last.X[i]
		case e.Known:
			at = e.Value
		}
		s.Achieved[i] = journal.Number(at)
	}
	return &s
}

// OutcomeStatus is a concluded step: the objective's statistic in the user's sense.
type OutcomeStatus struct {
	Step          int            `json:"step"`
	Mean          journal.Number `json:"mean"`
	StandardError journal.Number `json:"standard_error"`
	Shots         int            `json:"shots"`
	Valid         bool           `json:"valid"`
	Problem       string         `json:"problem"`
	Cost          journal.Number `json:"cost"`
	At            time.Time      `json:"at"`
}

// OutcomeOf is an outcome as a status has it, nil where there is none.
func OutcomeOf(o *journal.Outcome) *OutcomeStatus {
	if o == nil {
		return nil
	}
	return &OutcomeStatus{Step: o.Step, Mean: journal.Number(o.Mean), StandardError: journal.Number(o.StandardError), Shots: o.Shots, Valid: o.Valid,
		Problem: o.Problem, Cost: journal.Number(o.Cost), At: o.At.Wall.Round(0).UTC()}
}

// VariableStatus is where a variable stands.
type VariableStatus struct {
	Name string         `json:"name"`
	Unit string         `json:"unit"`
	Low  journal.Number `json:"low"`
	High journal.Number `json:"high"`
	// Readback was read Age ago; null where nothing was.
	Readback journal.Number `json:"readback"`
	Age      journal.Number `json:"age_s"`
	// Setpoint is what the device acknowledged last, null where it was let go or never set;
	// Wanted the destination, null where it is left alone.
	Setpoint journal.Number `json:"setpoint"`
	Wanted   journal.Number `json:"wanted"`
	Driven   bool           `json:"driven"`
	Released bool           `json:"released"`
	// Frozen is where a person keeps it, null where it is tuned.
	Frozen *float64 `json:"frozen"`
	// OnStop and OnEnd say in words where a stop and an end bring it, "" where it has no
	// actuator.
	OnStop string `json:"on_stop"`
	OnEnd  string `json:"on_end"`
}

// SensorStatus is the last believed value of a sensor, Age old; Valid says that it is
// young enough to be used. Odd says what it gives now that is no data, such as a value outside
// its range.
type SensorStatus struct {
	Name  string         `json:"name"`
	Unit  string         `json:"unit"`
	Value journal.Number `json:"value"`
	Age   journal.Number `json:"age_s"`
	Valid bool           `json:"valid"`
	Odd   string         `json:"odd,omitempty"`
}

// RecommendedStatus is the setting of the best pessimistic bound, in the user's sense:
// Bound is the pessimistic one, SD the posterior standard deviation of the mean, NoiseSD
// that of one shot. Values has one entry per variable, null where it is left random.
type RecommendedStatus struct {
	ControlSet []string         `json:"control_set"`
	Values     []journal.Number `json:"values"`
	Mean       journal.Number   `json:"mean"`
	Bound      journal.Number   `json:"bound"`
	SD         journal.Number   `json:"sd"`
	NoiseSD    journal.Number   `json:"noise_sd"`
	Feasible   bool             `json:"feasible"`
	// Variables says what each variable does there, Try which command sets that again, TryAll
	// the same with what is held ("" where nothing is).
	Variables []SettingPart `json:"variables"`
	Try       string        `json:"try"`
	TryAll    string        `json:"try_all"`
}

// RecommendedOf is a recommendation as a status has it: r is in the user's sense.
func RecommendedOf(o *plan.Options, run string, r *policy.Recommendation) *RecommendedStatus {
	parts := SettingOf(o, r.X, r.Left)
	return &RecommendedStatus{ControlSet: o.SetNames(r.ControlSet), Values: journal.Numbers(r.X), Mean: journal.Number(r.Mean), Bound: journal.Number(r.LowerBound),
		SD: journal.Number(r.SD), NoiseSD: journal.Number(r.NoiseSD), Feasible: r.Feasible,
		Variables: parts, Try: TryLine(run, parts), TryAll: TryAllLine(o, run, parts)}
}

// ConstraintStatus is how far a constrained sensor is from its nearest bound (Margin, in
// Unit; negative: outside).
type ConstraintStatus struct {
	Sensor string         `json:"sensor"`
	Unit   string         `json:"unit"`
	Low    journal.Number `json:"low"`
	High   journal.Number `json:"high"`
	Value  journal.Number `json:"value"`
	Margin journal.Number `json:"margin"`
}

// ConstraintsOf are the constraints by what the sensors say now.
func ConstraintsOf(o *plan.Options, sensors []SensorStatus) []ConstraintStatus {
	all := make([]ConstraintStatus, 0, len(o.Constraints))
	for _, c := range o.Constraints {
		v := sensors[c.Sensor]
		s := ConstraintStatus{Sensor: v.Name, Unit: v.Unit, Low: journal.Number(c.Low), High: journal.Number(c.High), Value: v.Value, Margin: journal.Number(math.NaN())}
		if v.Valid {
			s.Margin = min(v.Value-journal.Number(c.Low), journal.Number(c.High)-v.Value)
		}
		all = append(all, s)
	}
	return all
}

// DoseStatus is what a dosed variable has been given, in its unit. Limit is the run's,
// null where nothing bounds. Unknown says that nobody knows whether the last dose was given.
type DoseStatus struct {
	Variable string         `json:"variable"`
	Unit     string         `json:"unit"`
	Total    journal.Number `json:"total"`
	Limit    journal.Number `json:"limit"`
	Unknown  bool           `json:"unknown"`
}

// InstantOf is a journal's stamp as a status has it.
func InstantOf(s journal.Stamp) Instant {
	return Instant{Wall: s.Wall.Round(0).UTC(), Mono: journal.Number(s.Mono.Seconds())}
}

// The states beyond those of the safety layer.
const (
	StateStarting = "starting"
	StateRunning  = "running"
	StateEnding   = "ending"
	StateEnded    = "ended"
)

// Seconds is a duration as a status has it.
func Seconds(d time.Duration) journal.Number { return journal.Number(d.Seconds()) }

// DeviceStatus is how one device stands: up to Retries failures within the window of the
// file are mended unseen.
type DeviceStatus struct {
	Name string `json:"name"`
	// Out says that its last call failed, for how long. Held says that its budget is
	// spent, and the run is held for it.
	Out    bool           `json:"out"`
	OutFor journal.Number `json:"out_for_s"`
	Held   bool           `json:"held"`
	// Failures of Retries within Window have been seen; Trouble is the last one's words.
	Failures int            `json:"failures"`
	Retries  int            `json:"retries"`
	Window   journal.Number `json:"window_s"`
	Trouble  string         `json:"trouble"`
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
	Free  journal.Number `json:"free_bytes"`
	Least journal.Number `json:"least_bytes"`
}

// ComparisonStatus is how the recommended setting's re-measuring against the starting one
// stands: while Running, and what came of it. Its steps are no part of the search.
type ComparisonStatus struct {
	// Running says that Setting ("recommended" or "start") is being measured for the pair
	// Pair of Pairs.
	Running bool   `json:"running"`
	Pair    int    `json:"pair"`
	Pairs   int    `json:"pairs"`
	Setting string `json:"setting"`
	// Verdict (see Verification) and Words tell the result, "" before it.
	Verdict string `json:"verdict"`
	Words   string `json:"words"`
	// Why says why nothing was compared, "" where it is or was.
	Why string `json:"why"`
}
