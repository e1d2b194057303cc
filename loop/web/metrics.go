package web

import (
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
)

// Metrics is what Prometheus reads of a run. Counters are fed by the loop
// (Watch), which costs that some additions; gauges (values,
// ages, what is left) come from the panel's status at a request. Names are in base
// units. Labels are bounded by the configuration and by tables of the program: names of
// sensors, variables, devices, rules, states.
type Metrics struct {
	o        MetricsOptions
	registry *prometheus.Registry

	ticks, writes, decisions, steps prometheus.Histogram
	results, fits                   *prometheus.CounterVec
	trips, holds, fallbacks, stops  *prometheus.CounterVec
	troubles                        *prometheus.CounterVec
	events                          *prometheus.CounterVec
	model                           *modelMetrics
}

// MetricsOptions are what a run is, besides its panel.
type MetricsOptions struct {
	Panel   *control.Panel
	Devices []string
	// Version and GoVersion are the program's.
	Version, GoVersion string
	// Disk gives the bytes free where the journal is, and the journal's size.
	Disk func() (free, journal uint64, err error)
	Now  func() time.Time
}

// stateNames are all values of loop.Status.State.
func stateNames() []string {
	return []string{"starting", "disarmed", "armed", "running", "held", "fallen back", "tripped", "stopped", "ending", "ended"}
}

// NewMetrics returns the metrics of a run that has not begun.
func NewMetrics(o MetricsOptions) *Metrics {
	histogram := func(name, help string, buckets []float64) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	}
	counters := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m := &Metrics{o: o, registry: prometheus.NewRegistry(),
		ticks: histogram("tuner_tick_duration_seconds", "Time that a tick of the loop took.",
			[]float64{.00005, .0001, .0002, .0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2}),
		writes: histogram("tuner_journal_write_duration_seconds", "Time from asking for a record until it was durable.",
			[]float64{.0005, .001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30}),
		decisions: histogram("tuner_decision_duration_seconds", "Time that the policy took for a decision.",
			[]float64{.001, .002, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30}),
		steps: histogram("tuner_step_duration_seconds", "Time from a decision until its outcome.",
			[]float64{.1, .2, .5, 1, 2, 5, 10, 30, 60, 300, 900, 3600, 6 * 3600, 86400}),
		results:   counters("tuner_steps_total", "Concluded steps of this process, by result.", "result"),
		fits:      counters("tuner_gp_fits_total", "Fits of hyperparameters, by result.", "result"),
		trips:     counters("tuner_safety_trips_total", "Trips, by the rule that came first.", "rule"),
		holds:     counters("tuner_safety_holds_total", "Holds for a fault, by the rule that came first.", "rule"),
		fallbacks: counters("tuner_safety_fallbacks_total", "Fallbacks, by the rule that came first.", "rule"),
		stops:     counters("tuner_safety_stops_total", "Latched stops, by the rule that came first.", "rule"),
		troubles:  counters("tuner_driver_errors_total", "Calls of a device that went wrong, by device and operation.", "device", "operation"),
		events:    counters("tuner_events_total", "Lines of the run's story, by level.", "level"),
		model:     newModelMetrics(),
	}
	// A counter that is there from the beginning shows its first increase.
	for _, rule := range control.RuleNames() {
		for _, c := range []*prometheus.CounterVec{m.trips, m.holds, m.fallbacks, m.stops} {
			c.WithLabelValues(rule)
		}
	}
	for _, d := range o.Devices {
		for _, op := range []string{"read", "write"} {
			m.troubles.WithLabelValues(d, op)
		}
	}
	for _, r := range []string{"valid", "failed"} {
		m.results.WithLabelValues(r)
	}
	for _, r := range []string{"in force", "failed"} {
		m.fits.WithLabelValues(r)
	}
	for _, l := range []string{"info", "warn", "error"} {
		m.events.WithLabelValues(l)
	}
	m.registry.MustRegister(m.ticks, m.writes, m.decisions, m.steps, m.results, m.fits, m.trips, m.holds, m.fallbacks, m.stops, m.troubles, m.events,
		m.model.observations, m.model.capacity, m.model.loads,
		&statusCollector{o: o, status: o.Panel.Status}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// modelMetrics are what the policy last reported about its model.
type modelMetrics struct {
	observations, capacity, loads prometheus.Gauge
}

func newModelMetrics() *modelMetrics {
	gauge := func(name, help string) prometheus.Gauge {
		return prometheus.NewGauge(prometheus.GaugeOpts{Name: name, Help: help})
	}
	return &modelMetrics{
		observations: gauge("tuner_gp_observations", "Observations that the model holds."),
		capacity:     gauge("tuner_gp_capacity", "Observations that the model can hold."),
		loads:        gauge("tuner_gp_refactorisations", "How often the model has been computed from scratch."),
	}
}

// Watch adds the metrics' callbacks to a loop's watch; what was there is still
// called.
func (m *Metrics) Watch(w control.Watch) control.Watch {
	step, event := w.Step, w.Event
	w.Step = func(d journal.Decision, o journal.Outcome) {
		m.decisions.Observe(d.Took.Seconds())
		m.steps.Observe((o.At.Mono - d.At.Mono).Seconds())
		m.results.WithLabelValues(map[bool]string{true: "valid", false: "failed"}[o.Valid]).Inc()
		if step != nil {
			step(d, o)
		}
	}
	w.Event = func(e journal.Event) {
		m.events.WithLabelValues(e.Level).Inc()
		if event != nil {
			event(e)
		}
	}
	w.Meter = control.Meter{
		Tick:    func(took time.Duration) { m.ticks.Observe(took.Seconds()) },
		Record:  func(took time.Duration) { m.writes.Observe(took.Seconds()) },
		Trouble: func(device, operation string) { m.troubles.WithLabelValues(device, operation).Inc() },
		State:   m.state,
		Model: func(s control.ModelSize) {
			m.model.observations.Set(float64(s.Observations))
			m.model.capacity.Set(float64(s.Capacity))
			m.model.loads.Set(float64(s.Refactorisations))
		},
		Fit: func(failed bool) {
			m.fits.WithLabelValues(map[bool]string{true: "failed", false: "in force"}[failed]).Inc()
		},
	}
	return w
}

// state counts what the safety layer did, once for each rule that it did it for.
func (m *Metrics) state(state string, because []control.Cause) {
	counter := map[string]*prometheus.CounterVec{"held": m.holds, "fallen back": m.fallbacks, "tripped": m.trips, "stopped": m.stops}[state]
	if counter == nil {
		return
	}
	seen := map[string]bool{}
	for _, c := range because {
		if !seen[c.Rule] {
			seen[c.Rule] = true
			counter.WithLabelValues(c.Rule).Inc()
		}
	}
}

// Mount puts /metrics and /healthz on a server.
func (m *Metrics) Mount(handle func(pattern string, h http.Handler)) {
	handle("GET /metrics", m.handler())
	handle("GET /healthz", health(m.o.Panel.Status, m.o.Now))
}

func (m *Metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.registry, MaxRequestsInFlight: 4, Timeout: 10 * time.Second, EnableOpenMetrics: true})
}

// staleAfter is how many seconds without a tick make a loop unhealthy.
const staleAfter = 10 * time.Second

// health serves /healthz: 200 and the state while the loop ticks and nothing is wrong, 503
// and the reason otherwise. A run that is held, waits for a person or has ended as it
// should is well; one that fell back, tripped or does not move is not.
func health(of func() *control.Status, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		s := of()
		words, status := s.State, http.StatusOK
		switch silent := now().Sub(s.Ticked.Wall); {
		case s.State == "fallen back" || s.State == "tripped" || s.State == "stopped" || s.Error != "":
			status = http.StatusServiceUnavailable
			for _, c := range s.FirstOut {
				words += "; " + c.Text
			}
			if s.Error != "" {
				words += "; " + s.Error
			}
		case s.State != "ended" && !s.Ticked.Wall.IsZero() && silent > staleAfter:
			status = http.StatusServiceUnavailable
			words = "no tick for " + silent.Round(time.Second).String()
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(status)
		// That its reader has gone is no trouble of ours.
		_, _ = w.Write([]byte(strings.ReplaceAll(words, "\n", "; ") + "\n"))
	})
}
