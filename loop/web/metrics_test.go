package web

import (
	"encoding/json"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// busy is a status with one of everything.
func busy() *control.Status {
	nan := journal.Number(math.NaN())
	return &control.Status{Session: "s", Run: "r", Name: "laser", Site: "bay", Mode: plan.Live, State: "held", For: 3, Step: 8, Steps: 7, StepLimit: 50,
		Failures: 1, FailureLimit: 10, Spent: 12, Budget: 100, Elapsed: 60, Ticked: control.Instant{Wall: began, Mono: 60},
		Causes:      []control.Cause{{Rule: "stale", Of: "energy", Text: "sensor energy has given nothing"}},
		FirstOut:    []control.Cause{{Rule: "stale", Of: "energy", Text: "sensor energy has given nothing"}},
		Objective:   control.ObjectiveStatus{Name: "energy", Unit: "mJ"},
		Outcome:     &control.OutcomeStatus{Step: 7, Mean: 4.5},
		Recommended: &control.RecommendedStatus{Mean: 4.8, Bound: 4.4, NoiseSD: 0.2},
		Sensors:     []control.SensorStatus{{Name: "energy", Unit: "mJ", Value: 4.4, Age: 2, Valid: true}, {Name: "dark", Unit: "1", Value: nan, Age: nan}},
		Variables:   []control.VariableStatus{{Name: "pump", Unit: "A", Readback: 70.1, Age: 0.1, Setpoint: 70}, {Name: "free", Unit: "1", Readback: nan, Age: nan, Setpoint: nan}},
		Constraints: []control.ConstraintStatus{{Sensor: "energy", Unit: "mJ", Margin: 0.4}, {Sensor: "energy", Unit: "mJ", Margin: -0.1}, {Sensor: "dark", Unit: "1", Margin: nan}},
		Doses:       []control.DoseStatus{{Variable: "pump", Unit: "A", Total: 5, Limit: 60}}}
}

// metered are the metrics of busy after one of everything has happened.
func metered(t *testing.T, status func() *control.Status) *Metrics {
	t.Helper()
	m := NewMetrics(MetricsOptions{Panel: control.NewPanel("s"), Devices: []string{"meter"}, Version: "1.2", GoVersion: "go1.26",
		Disk: func() (uint64, uint64, error) { return 5 << 30, 4096, nil }, Now: func() time.Time { return began.Add(time.Second) }})
	passed := []string{}
	w := m.Watch(control.Watch{Step: func(journal.Decision, journal.Outcome) { passed = append(passed, "step") },
		Event: func(journal.Event) { passed = append(passed, "event") }})
	w.Step(labStep(6))
	w.Step(labStep(7)) // has failed
	w.Event(journal.Event{Level: "warn"})
	w.Meter.Tick(300 * time.Microsecond)
	w.Meter.Record(4 * time.Millisecond)
	w.Meter.Trouble("meter", "read")
	w.Meter.State("tripped", []control.Cause{{Rule: "interlock", Of: "a"}, {Rule: "interlock", Of: "b"}})
	w.Meter.State("held", []control.Cause{{Rule: "stale", Of: "a"}})
	w.Meter.Model(control.ModelSize{Observations: 7, Capacity: 1024, Refactorisations: 2})
	w.Meter.Fit(true)
	if !slices.Equal(passed, []string{"step", "step", "event"}) {
		t.Errorf("the watch that was there heard %v", passed)
	}
	m.registry = gathererOf(m, status)
	return m
}

// gathererOf is the registry with a status in place of the panel's.
func gathererOf(m *Metrics, status func() *control.Status) *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(m.ticks, m.writes, m.decisions, m.steps, m.results, m.fits, m.trips, m.holds, m.fallbacks, m.stops, m.troubles, m.events,
		m.model.observations, m.model.capacity, m.model.loads, &statusCollector{o: m.o, status: status},
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return r
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("%d\n%s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestMetrics(t *testing.T) {
	text := scrape(t, metered(t, busy))
	for _, want := range []string{
		`tuner_build_info{goversion="go1.26",version="1.2"} 1`,
		`tuner_run_info{mode="run",name="laser",run="r",session="s",site="bay"} 1`,
		`tuner_state{state="held"} 1`, `tuner_state{state="running"} 0`, `tuner_state{state="fallen back"} 0`,
		`tuner_steps_total{result="valid"} 1`, `tuner_steps_total{result="failed"} 1`,
		`tuner_decision_duration_seconds_sum 0.006`, `tuner_tick_duration_seconds_bucket{le="0.0005"} 1`, `tuner_tick_duration_seconds_bucket{le="0.0002"} 0`,
		`tuner_journal_write_duration_seconds_sum 0.004`,
		`tuner_safety_trips_total{rule="interlock"} 1`, `tuner_safety_trips_total{rule="stale"} 0`, `tuner_safety_holds_total{rule="stale"} 1`,
		`tuner_safety_active{rule="stale"} 1`, `tuner_safety_active{rule="interlock"} 0`,
		`tuner_driver_errors_total{device="meter",operation="read"} 1`, `tuner_driver_errors_total{device="meter",operation="write"} 0`,
		`tuner_events_total{level="warn"} 1`, `tuner_gp_observations 7`, `tuner_gp_refactorisations 2`, `tuner_gp_fits_total{result="failed"} 1`,
		`tuner_objective_best{unit="mJ"} 4.8`, `tuner_objective_best_bound{unit="mJ"} 4.4`, `tuner_objective_last{unit="mJ"} 4.5`,
		`tuner_sensor_value{sensor="energy",unit="mJ"} 4.4`, `tuner_sensor_age_seconds{sensor="energy"} 2`,
		`tuner_variable_setpoint{unit="A",variable="pump"} 70`, `tuner_variable_readback{unit="A",variable="pump"} 70.1`,
		`tuner_constraint_margin{sensor="energy",unit="mJ"} -0.1`, `tuner_dose{unit="A",variable="pump"} 5`, `tuner_dose_limit{unit="A",variable="pump"} 60`,
		`tuner_cost_spent 12`, `tuner_cost_budget 100`, `tuner_step_limit 50`, `tuner_last_tick_timestamp_seconds 1.772352e+09`,
		`tuner_disk_free_bytes 5.36870912e+09`, `tuner_journal_size_bytes 4096`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	if strings.Contains(text, "NaN") || strings.Contains(text, `"dark"`) && strings.Contains(text, `sensor="dark",unit`) || strings.Contains(text, `"free"`) {
		t.Errorf("a number that there is not is shown:\n%s", text)
	}
}

// TestMetricsAreWellNamed has Prometheus' own linter look at names and help.
func TestMetricsAreWellNamed(t *testing.T) {
	problems, err := testutil.GatherAndLint(metered(t, busy).registry)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Errorf("%s: %s", p.Metric, p.Text)
	}
}

// TestMetricsBeforeTheFirstTick: a panel of a run that has not begun can be scraped.
func TestMetricsBeforeTheFirstTick(t *testing.T) {
	m := NewMetrics(MetricsOptions{Panel: control.NewPanel("s"), Now: time.Now,
		Disk: func() (uint64, uint64, error) { return 0, 0, errors.New("no such file") }})
	text := scrape(t, m)
	for _, want := range []string{`tuner_state{state="starting"} 1`, "go_goroutines ", "process_resident_memory_bytes "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	for _, never := range []string{"tuner_last_tick_timestamp_seconds", "tuner_disk_free_bytes"} {
		if strings.Contains(text, never) {
			t.Errorf("%s is shown", never)
		}
	}
}

func TestHealth(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*control.Status)
		later  time.Duration
		code   int
		body   string
	}{
		"running":  {func(s *control.Status) { s.State = "running" }, time.Second, 200, "running\n"},
		"held":     {func(*control.Status) {}, time.Second, 200, "held\n"},
		"tripped":  {func(s *control.Status) { s.State = "tripped" }, time.Second, 503, "tripped; sensor energy has given nothing\n"},
		"fault":    {func(s *control.Status) { s.State, s.Error, s.FirstOut = "ending", "no\nlight", nil }, time.Second, 503, "ending; no; light\n"},
		"still":    {func(s *control.Status) { s.State = "running" }, time.Minute, 503, "no tick for 1m0s\n"},
		"starting": {func(s *control.Status) { *s = control.Status{State: "starting"} }, time.Minute, 200, "starting\n"},
		"ended":    {func(s *control.Status) { s.State = "ended" }, time.Hour, 200, "ended\n"},
	} {
		s := busy()
		c.change(s)
		w := httptest.NewRecorder()
		health(func() *control.Status { return s }, func() time.Time { return began.Add(c.later) }).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/healthz", nil))
		if w.Code != c.code || w.Body.String() != c.body {
			t.Errorf("%s: %d %q, want %d %q", name, w.Code, w.Body, c.code, c.body)
		}
	}
}

// TestDashboardsAskForMetricsThatExist: every metric that the Grafana dashboard and the
// alert rules name is one that a run gives, with the labels they select by.
func TestDashboardsAskForMetricsThatExist(t *testing.T) {
	text := scrape(t, metered(t, busy)) + "up{job=\"tuner\"} 1\n"
	folder := filepath.Join("..", "..", "docs", "monitoring")
	var board any
	content, err := os.ReadFile(filepath.Join(folder, "tuner.json"))
	if err == nil {
		err = json.Unmarshal(content, &board)
	}
	if err != nil {
		t.Fatal(err)
	}
	queries := map[string][]string{"tuner.json": exprs(board)}
	alerts, err := os.ReadFile(filepath.Join(folder, "alerts.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\s+expr: (.+)$`).FindAllStringSubmatch(string(alerts), -1) {
		queries["alerts.yaml"] = append(queries["alerts.yaml"], m[1])
	}
	metric := regexp.MustCompile(`\b((?:tuner|process|go)_\w+|up)\b(?:\{([^}]*)\})?`)
	for file, list := range queries {
		if len(list) < 8 {
			t.Errorf("%s has %d queries", file, len(list))
		}
		for _, q := range list {
			found := metric.FindAllStringSubmatch(q, -1)
			if len(found) == 0 {
				t.Errorf("%s: no metric in %q", file, q)
			}
			for _, f := range found {
				line := regexp.MustCompile(`(?m)^` + f[1] + `[ {].*$`).FindString(text)
				if line == "" {
					t.Errorf("%s: %q asks for %s, which there is not", file, q, f[1])
				}
				for _, label := range regexp.MustCompile(`(\w+)\s*(?:=~|!~|!=|=)`).FindAllStringSubmatch(f[2], -1) {
					if label[1] != "instance" && label[1] != "job" && !strings.Contains(line, label[1]+`="`) {
						t.Errorf("%s: %q selects by %s, which %s has not", file, q, label[1], f[1])
					}
				}
			}
		}
	}
}

// exprs are the queries in a dashboard.
func exprs(v any) (out []string) {
	switch v := v.(type) {
	case map[string]any:
		for k, inner := range v {
			if text, ok := inner.(string); ok && k == "expr" {
				out = append(out, text)
				continue
			}
			out = append(out, exprs(inner)...)
		}
	case []any:
		for _, inner := range v {
			out = append(out, exprs(inner)...)
		}
	}
	return out
}
