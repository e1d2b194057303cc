package simulator

import (
	"database/sql"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/mqtt"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/journal/intenttest"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/policy"
	"github.com/labtuner/tuner/safety"
)

// Some worlds have a pump beside the knobs: a variable of doses, which nothing takes back.
// The pump counts for itself what it has given, and the level that it gives into shows it.
const (
	feed       = "feed"
	level      = "level"
	doseMost   = 5.0 // mL, of one dose
	doseStep   = 0.1 // mL
	runName    = "world"
	levelPerML = 0.01 // L
)

// newBudget draws what a world's pump may give: about what its steps would ask for, so that
// some worlds never meet a limit and some stand at one half of their time.
func newBudget(tick, long time.Duration, rng *rand.Rand) *safety.DoseLimits {
	const perTick = 0.4 // mL, of a step of six ticks that asks for half of the range
	about := func(window time.Duration) float64 {
		return perTick * float64(window) / float64(tick) * (0.5 + rng.Float64())
	}
	d := &safety.DoseLimits{Variable: len(knobs), PerDose: doseMost, Run: 2 * about(long), MinInterval: time.Duration(rng.Int64N(int64(8 * tick)))}
	if rng.IntN(3) > 0 {
		d.Hour = max(about(time.Hour), 2*doseMost)
	}
	if rng.IntN(3) > 0 {
		d.Day = max(about(24*time.Hour), 2*doseMost)
	}
	return d
}

// addDoses adds the pump to what the loop is told.
func (p *pace) addDoses(o *plan.Options) {
	t := p.tick
	o.Variables = append(o.Variables, plan.Variable{Name: feed, Unit: "mL", Channel: plan.Channel{Name: feed}, Actuated: true, Dose: true,
		Low: 0, High: doseMost, Start: math.NaN(), MaxAge: 4 * t, Timeout: 6 * t, Settle: t, OnRelease: plan.Hold, Boot: plan.RestHold,
		OnFault: plan.RestOff, Shutdown: plan.RestOff, Limits: safety.VariableLimits{Dose: true, High: doseMost, Resolution: doseStep}})
	o.Sensors = append(o.Sensors, plan.Sensor{Name: level, Unit: "L", Channel: plan.Channel{Name: level}, Low: 0, High: 1e9, MaxAge: 4 * t})
	o.ControlSets[0].Variables = append(o.ControlSets[0].Variables, len(knobs))
	o.Cost.PerMove = append(o.Cost.PerMove, 0)
	o.Safety.Doses = []safety.DoseLimits{*p.budget}
	o.Safety.Responses = []safety.ResponseLimits{{Variable: len(knobs), Sensor: len(o.Sensors) - 1, Change: doseStep, Moves: doseStep * levelPerML / 2, Within: 6 * t}}
}

// feedChannels are the pump's topics.
func (p *pace) feedChannels() []mqtt.ChannelOptions {
	return []mqtt.ChannelOptions{
		{Channel: feed, Unit: "mL", Dose: true, Write: &mqtt.WriteTopic{Topic: setTopic(feed), TTL: p.ttl},
			Release: &mqtt.ReleaseTopic{Topic: "lab/feed/stop"}, Confirm: &mqtt.ConfirmTopic{Topic: "lab/feed/taken", Timeout: p.confirm}},
		{Channel: level, Unit: "L", Read: &mqtt.ReadTopic{Topic: stateTopic, Path: level}},
	}
}

// addFeed adds the pump to what the policy is told.
func addFeed(s *policy.Spec) {
	s.Variables = append(s.Variables, policy.Variable{Name: feed, Low: 0, High: doseMost, Start: math.NaN()})
	s.ControlSets[0].Controlled = append(s.ControlSets[0].Controlled, true)
	s.Model.Lengthscale = append(s.Model.Lengthscale, 1)
}

// pumpMood is how the pump answers while it is out of order.
type pumpMood int

const (
	pumpWell    pumpMood = iota
	pumpMute             // gives, and does not say so
	pumpDead             // gives nothing, and does not say so
	pumpRefuses          // gives nothing, and says so
	pumpHalf             // gives half, and says so
	pumpMoods
)

// pump is the instrument's, with the witness at its border.
type pump struct{ w *witness }

// channels are what it has.
func (pump) channels() []drivers.Channel {
	return []drivers.Channel{
		{Name: feed, Unit: "mL", Access: drivers.ReadWrite, Min: 0, Max: doseMost, Safe: math.NaN(), CanRelease: true, Dose: true},
		{Name: level, Unit: "L", Min: math.NaN(), Max: math.NaN(), Safe: math.NaN()},
	}
}

// write gives a dose, or stops.
func (p pump) write(s drivers.Setpoints) (drivers.Reading, error) {
	if len(s.Release) > 0 {
		return drivers.Reading{}, nil
	}
	amount, mood := s.Values[feed], p.w.pumpMood()
	switch mood {
	case pumpDead:
		return drivers.Reading{}, fmt.Errorf("%w: the pump does not turn, as the simulation wants it", drivers.ErrUnavailable)
	case pumpRefuses:
		return drivers.Reading{}, fmt.Errorf("%w: the bottle is empty, as the simulation wants it", drivers.ErrRefused)
	case pumpHalf:
		amount /= 2
	}
	p.w.given(s, amount)
	if mood == pumpMute {
		return drivers.Reading{}, fmt.Errorf("%w: the pump says nothing, as the simulation wants it", drivers.ErrUnavailable)
	}
	return drivers.Reading{Values: map[string]float64{feed: amount}}, nil
}

// dosed is a dose that the pump has given.
type dosed struct {
	at     time.Time
	name   string
	asked  float64
	amount float64
}

// doses is what the witness knows of the pump.
type doses struct {
	limits *safety.DoseLimits
	mood   pumpMood
	given  []dosed
	total  float64
	// sent are the amounts of the doses that have left a process, by their names.
	sent map[string]float64
}

func (v *witness) pumpMood() pumpMood {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.doses.mood
}

func (v *witness) setPump(m pumpMood) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.doses.mood = m
}

// level is what the pump has given, in L.
func (v *witness) level() float64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.doses.total * levelPerML
}

// doseLeaves is told before a dose leaves a process: it must be in the journal, and must
// never have left before.
func (v *witness) doseLeaves(p *process, s drivers.Setpoints) {
	if p.killed.Load() {
		return
	}
	amount := s.Values[feed]
	recorded, err := intent(filepath.Join(p.folder, journalFile), s.Dose)
	v.mu.Lock()
	defer v.mu.Unlock()
	switch {
	case err != nil:
		v.breaks("process %d sends dose %q, whose intent cannot be read: %v", p.number, s.Dose, err)
	case recorded != amount:
		v.breaks("process %d sends %v as dose %q, and its intent is %v", p.number, amount, s.Dose, recorded)
	case v.latched:
		v.breaks("process %d sends dose %q while latched", p.number, s.Dose)
	}
	if _, before := v.doses.sent[s.Dose]; before {
		v.breaks("process %d sends dose %q again", p.number, s.Dose)
	}
	v.doses.sent[s.Dose] = amount
}

// intent is the amount that the journal has for a dose.
func intent(path, name string) (amount float64, err error) {
	id, err := strconv.ParseInt(strings.TrimPrefix(name, runName+"-"), 10, 64)
	if err != nil {
		return 0, err
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		return 0, err
	}
	defer db.Close()
	err = db.QueryRow("SELECT value FROM action_channel JOIN action ON action.id = action_channel.action WHERE action.id = ? AND kind = 'dose' AND channel = ?", id, feed).Scan(&amount)
	return amount, err
}

// given is told what the pump has given: once for each name, nothing that was not sent,
// and no more than its budget has, by the pump's own count.
func (v *witness) given(s drivers.Setpoints, amount float64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	d, now := &v.doses, time.Now()
	asked := s.Values[feed]
	v.w.note("the pump gives %v of dose %q", amount, s.Dose)
	if slices.ContainsFunc(d.given, func(g dosed) bool { return g.name == s.Dose }) {
		v.breaks("dose %q is given again", s.Dose)
	}
	if sent, ok := d.sent[s.Dose]; !ok || sent != asked {
		v.breaks("the pump is asked for %v as dose %q, and %v was sent (%v)", asked, s.Dose, sent, ok)
	}
	if steps := asked / doseStep; !(asked > 0 && asked <= d.limits.PerDose) || math.Abs(steps-math.Round(steps)) > 1e-6 {
		v.breaks("a dose of %v", asked)
	}
	v.counts.doses++
	d.given = append(d.given, dosed{now, s.Dose, asked, amount})
	d.total += amount
	v.judgeBudget(now)
}

// judgeBudget looks at the rolling hour, the rolling day, the run, and the time since the
// dose before. What was sent may be late by its ttl, which is all that a window may lack.
func (v *witness) judgeBudget(now time.Time) {
	d, late := &v.doses, v.oldest(now)
	const rounding = 1 + 1e-9
	for _, w := range []struct {
		name   string
		limit  float64
		window time.Duration
	}{{"hour", d.limits.Hour, time.Hour}, {"day", d.limits.Day, 24 * time.Hour}, {"run", d.limits.Run, 1 << 62}} {
		sum := 0.0
		for _, g := range d.given {
			if now.Sub(g.at) < w.window-late {
				sum += g.amount
			}
		}
		if w.limit > 0 && sum > w.limit*rounding {
			v.breaks("the pump has given %v in a %s, the limit is %v", sum, w.name, w.limit)
		}
	}
	if n := len(d.given); n > 1 {
		if gap := now.Sub(d.given[n-2].at); gap < d.limits.MinInterval-late {
			v.breaks("a dose %v after the one before, the limit is %v", gap, d.limits.MinInterval)
		}
	}
}

// booked compares what a control state has with what the pump has given: what nobody knows
// of counts as delivered, so the books are never below the pump.
func (v *witness) booked(p *process, s controlstate.State) {
	if v.w.pace.budget == nil || p.killed.Load() {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if total := s.Doses[feed].Total; total < v.doses.total*(1-1e-9)-1e-9 {
		v.breaks("process %d: %v are booked, and the pump has given %v", p.number, total, v.doses.total)
	}
}

// settled goes through the journal's doses: what the pump has given has an intent of that
// amount, and none that it has given is on record as not given.
func (v *witness) settled(r *journal.Reader) {
	if v.w.pace.budget == nil {
		return
	}
	intents, err := intenttest.ReadIntents(r.Path())
	if err != nil {
		v.violation("intents: %v", err)
		return
	}
	given := map[string]dosed{}
	for _, g := range v.doses.given {
		given[g.name] = g
		if err := intents.Dose(g.name, feed, g.asked); err != nil {
			v.violation("%v", err)
		}
	}
	for a, err := range r.AllActions() {
		if err != nil {
			v.violation("actions: %v", err)
			return
		}
		name := fmt.Sprintf("%s-%d", runName, a.ID)
		if _, ok := given[name]; a.Kind != "dose" || !ok {
			continue
		}
		for _, s := range a.Resolutions {
			if s.State == journal.Failed {
				v.violation("dose %q was given and is recorded as not given: %s", name, s.Message)
			}
		}
	}
}
