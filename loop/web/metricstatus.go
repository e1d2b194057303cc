package web

import (
	"math"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// statusCollector makes metrics of a run's status when they are asked for.
type statusCollector struct {
	o      MetricsOptions
	status func() *control.Status
}

// reading is a metric of the status with its values.
type reading struct {
	name, help string
	labels     []string
	values     []sample
}

type sample struct {
	value  float64
	labels []string
}

// Describe implements prometheus.Collector; what there is depends on the run.
func (c *statusCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector. A number that there is not is left out.
func (c *statusCollector) Collect(out chan<- prometheus.Metric) {
	readings := append(c.run(c.status()), c.disk()...)
	for _, r := range readings {
		desc := prometheus.NewDesc(r.name, r.help, r.labels, nil)
		for _, s := range r.values {
			if !math.IsNaN(s.value) {
				out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, s.value, s.labels...)
			}
		}
	}
}

func one(v float64) []sample { return []sample{{v, nil}} }

// known is a bound, NaN where nothing bounds.
func known(n journal.Number) float64 {
	if n <= 0 || math.IsInf(float64(n), 0) {
		return math.NaN()
	}
	return float64(n)
}

func (c *statusCollector) disk() []reading {
	if c.o.Disk == nil {
		return nil
	}
	free, size, err := c.o.Disk()
	if err != nil {
		return nil
	}
	return []reading{
		{name: "tuner_disk_free_bytes", help: "Bytes that may be written where the journal is.", values: one(float64(free))},
		{name: "tuner_journal_size_bytes", help: "Size of the journal, its write-ahead log included.", values: one(float64(size))},
	}
}

func (c *statusCollector) run(s *control.Status) []reading {
	gauge := func(name, help string, v float64) reading { return reading{name: name, help: help, values: one(v)} }
	flag := map[bool]float64{true: 1}
	states := reading{name: "tuner_state", help: "1 for the state that the run is in.", labels: []string{"state"}}
	for _, name := range stateNames() {
		states.values = append(states.values, sample{flag[name == s.State], []string{name}})
	}
	out := []reading{states,
		{name: "tuner_build_info", help: "The program.", labels: []string{"version", "goversion"}, values: []sample{{1, []string{c.o.Version, c.o.GoVersion}}}},
		{name: "tuner_run_info", help: "The run.", labels: []string{"name", "site", "mode", "run", "session"},
			values: []sample{{1, []string{s.Name, s.Site, string(s.Mode), s.Run, s.Session}}}},
		gauge("tuner_paused", "1 while an operator has paused the run.", flag[s.Paused]),
		gauge("tuner_state_duration_seconds", "Time in the present state.", float64(s.For)),
		gauge("tuner_step", "Number of the step under way, over all sessions.", float64(s.Step)),
		gauge("tuner_step_limit", "Steps after which the run ends.", known(journal.Number(s.StepLimit))),
		gauge("tuner_failed_steps_in_a_row", "Failed steps since the last valid one.", float64(s.Failures)),
		gauge("tuner_cost_spent", "Cost so far, in the configuration's cost unit.", float64(s.Spent)),
		gauge("tuner_cost_budget", "Cost at which the run ends.", known(s.Budget)),
		gauge("tuner_elapsed_seconds", "Time of the run, over all sessions.", float64(s.Elapsed)),
	}
	if !s.Ticked.Wall.IsZero() {
		out = append(out, gauge("tuner_last_tick_timestamp_seconds", "When the last tick was completed.", float64(s.Ticked.Wall.UnixMilli())/1000))
	}
	return append(append(out, objectiveReadings(s)...), channelReadings(s)...)
}

func objectiveReadings(s *control.Status) []reading {
	unit := []string{"unit"}
	value := func(name, help string, v journal.Number) reading {
		return reading{name: name, help: help, labels: unit, values: []sample{{float64(v), []string{s.Objective.Unit}}}}
	}
	var out []reading
	if o := s.Outcome; o != nil {
		out = append(out, value("tuner_objective_last", "The objective in the last step.", o.Mean))
	}
	if r := s.Recommended; r != nil {
		out = append(out, value("tuner_objective_best", "The model's mean at the recommended setting.", r.Mean),
			value("tuner_objective_best_bound", "The pessimistic bound there, of the objective with its risk.", r.Bound),
			value("tuner_objective_noise", "Standard deviation of one shot there.", r.NoiseSD))
	}
	return out
}

func channelReadings(s *control.Status) []reading {
	of := func(name, help string, labels ...string) reading {
		return reading{name: name, help: help, labels: labels}
	}
	value, age := of("tuner_sensor_value", "The last believed value.", "sensor", "unit"), of("tuner_sensor_age_seconds", "How old it is.", "sensor")
	for _, v := range s.Sensors {
		value.values = append(value.values, sample{float64(v.Value), []string{v.Name, v.Unit}})
		age.values = append(age.values, sample{float64(v.Age), []string{v.Name}})
	}
	readback, setpoint := of("tuner_variable_readback", "Where the variable was read last.", "variable", "unit"),
		of("tuner_variable_setpoint", "What its device acknowledged last.", "variable", "unit")
	readAge := of("tuner_variable_age_seconds", "How old its readback is.", "variable")
	for _, v := range s.Variables {
		labels := []string{v.Name, v.Unit}
		readback.values = append(readback.values, sample{float64(v.Readback), labels})
		setpoint.values = append(setpoint.values, sample{float64(v.Setpoint), labels})
		readAge.values = append(readAge.values, sample{float64(v.Age), []string{v.Name}})
	}
	margin := of("tuner_constraint_margin", "Distance of a constrained sensor from its nearest bound; negative outside.", "sensor", "unit")
	nearest := map[string]int{} // one value for a sensor that has several constraints
	for _, v := range s.Constraints {
		i, there := nearest[v.Sensor]
		switch {
		case math.IsInf(float64(v.Margin), 0) || !v.Margin.Known():
		case there:
			margin.values[i].value = min(margin.values[i].value, float64(v.Margin))
		default:
			nearest[v.Sensor] = len(margin.values)
			margin.values = append(margin.values, sample{float64(v.Margin), []string{v.Sensor, v.Unit}})
		}
	}
	dosed, limit := of("tuner_dose", "What a variable has been given in this run.", "variable", "unit"), of("tuner_dose_limit", "The most in this run.", "variable", "unit")
	for _, v := range s.Doses {
		labels := []string{v.Variable, v.Unit}
		dosed.values = append(dosed.values, sample{float64(v.Total), labels})
		limit.values = append(limit.values, sample{known(v.Limit), labels})
	}
	active := of("tuner_safety_active", "Rules that ask for something now or are latched, by rule: how many subjects.", "rule")
	counts := map[string]float64{}
	for _, c := range s.Causes {
		counts[c.Rule]++
	}
	for _, rule := range control.RuleNames() {
		active.values = append(active.values, sample{counts[rule], []string{rule}})
	}
	return []reading{value, age, readback, setpoint, readAge, margin, dosed, limit, active}
}
