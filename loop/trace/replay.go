package trace

import (
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/safety"
)

// Verdicts says how far the replay of the safety layer's verdicts came.
type Verdicts struct {
	// Ticks are those that come out as they were recorded, in Sessions of the run.
	Ticks    int `json:"ticks"`
	Sessions int `json:"sessions"`
	// First is the first that does not, nil where all do.
	First *VerdictDifference `json:"first_difference"`
}

// VerdictDifference is the first place where the safety layer says something else than it
// did.
type VerdictDifference struct {
	Session int `json:"session"`
	// Tick counts the session's from 1; At is the safety layer's time then.
	Tick int           `json:"tick"`
	At   time.Duration `json:"at_ns"`
	// What differs, with both values.
	What     string `json:"what"`
	Recorded string `json:"recorded"`
	Derived  string `json:"derived"`
}

// Replay derives every recorded verdict of the safety layer anew: from what each session
// began from, through every reading and every tick, by safety.Step itself, and compares
// all of what it said, bit for bit. until, if it is not 0, is the last step whose ticks
// are looked at.
//
// Errors: what reading the pieces gives, and a trace that cannot be read.
func Replay(pieces iter.Seq2[journal.TapePiece, error], until int) (Verdicts, error) {
	var done Verdicts
	var session *session
	for piece, err := range pieces {
		if err != nil {
			return done, err
		}
		if piece.Ticks == 0 {
			if session, err = newSession(piece); err != nil {
				return done, err
			}
			done.Sessions++
			continue
		}
		if session == nil || session.number != piece.Session {
			return done, fmt.Errorf("%w: session %d has no beginning", ErrTrace, piece.Session)
		}
		if err := session.play(piece, until, &done); err != nil || done.First != nil {
			return done, err
		}
	}
	return done, nil
}

// session is a session that is being replayed.
type session struct {
	number, ticks int
	limits        safety.Limits
	state         safety.State
	// plan is where each word of a tick is.
	plan layout
}

func newSession(piece journal.TapePiece) (*session, error) {
	var start Start
	if err := json.Unmarshal(piece.Data, &start); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTrace, err)
	}
	if err := start.Limits.Check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrTrace, err)
	}
	s := &session{number: piece.Session, limits: start.Limits, state: safety.Boot(start.Saved)}
	s.plan.tick(&s.limits, &Tick{})
	return s, nil
}

// play derives the ticks of one piece.
func (s *session) play(piece journal.TapePiece, until int, done *Verdicts) error {
	data, err := unpack(piece.Data)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrTrace, err)
	}
	t, memory := &decoder{b: data}, previous{}
	for len(t.b) > 0 && t.err == nil {
		repeat, tick := t.uvarint(), t.b
		for ; repeat > 0 && t.err == nil; repeat-- {
			t.b = tick
			readings, v := s.read(t, &memory)
			switch {
			case t.err != nil:
				return t.err
			case until > 0 && v.P.ID > int64(until):
				return nil
			}
			if done.First = s.derive(readings, &v); done.First != nil {
				return nil
			}
			done.Ticks++
		}
	}
	return t.err
}

// read reads one tick with the readings before it.
func (s *session) read(t *decoder, m *previous) (list []Reading, v Tick) {
	for n := t.uvarint(); n > 0 && t.err == nil; n-- {
		u := t.uvarint()
		i := int(u >> 2)
		if u>>2 >= uint64(len(s.limits.Sensors)) {
			t.err = ErrTrace
			break
		}
		m.sensor[i] = [2]uint64{t.time(m.sensor[i][0]), t.bits(m.sensor[i][1])}
		list = append(list, Reading{Sensor: i, Verdict: safety.Verdict(u & 3),
			Sample: safety.Sample{At: time.Duration(m.sensor[i][0]), Value: math.Float64frombits(m.sensor[i][1]), Known: true}})
	}
	plan := &s.plan
	if m.words == nil {
		m.words = make([]uint64, len(plan.list))
	}
	at := uint64(0)
	for n := t.uvarint(); n > 0 && t.err == nil; n-- {
		at += t.uvarint()
		if at >= uint64(len(m.words)) {
			t.err = ErrTrace
			break
		}
		if plan.times[at] {
			m.words[at] = t.time(m.words[at])
		} else {
			m.words[at] = t.bits(m.words[at])
		}
		at++
	}
	w := layout{list: m.words, reading: true}
	w.tick(&s.limits, &v)
	return list, v
}

// derive passes one tick through the safety layer and compares.
func (s *session) derive(readings []Reading, v *Tick) *VerdictDifference {
	s.ticks++
	differs := func(what string, recorded, derived any) *VerdictDifference {
		return &VerdictDifference{Session: s.number, Tick: s.ticks, At: v.Now, What: what, Recorded: fmt.Sprint(recorded), Derived: fmt.Sprint(derived)}
	}
	for _, r := range readings {
		state := &s.state.Sensor[r.Sensor]
		var judged safety.Verdict
		*state, judged = s.limits.Sensors[r.Sensor].Accept(*state, r.Sample)
		if judged != r.Verdict {
			return differs(fmt.Sprintf("verdict on a reading of sensor %d", r.Sensor+1), verdictWords[r.Verdict&3], verdictWords[judged&3])
		}
	}
	out := s.state.Advance(&s.limits, &v.In, &v.P, v.Now)
	what, recorded, derived := differ(&v.Out, &out, &s.limits)
	if what == "" {
		return nil
	}
	return differs(what, recorded, derived)
}

// verdictWords say what became of a reading.
var verdictWords = [4]string{"believed", "out of range", "a spike", "nothing known"}

// differ is the first thing in which two outputs are not the same to the last bit, "" if
// there is none.
func differ(a, b *safety.Output, l *safety.Limits) (what string, x, y any) {
	switch {
	case a.Mode != b.Mode:
		return "mode", a.Mode, b.Mode
	case a.Active != b.Active:
		return "causes that hold", ruleNames(a.Active), ruleNames(b.Active)
	case a.Refused != b.Refused:
		return "causes of a refusal", ruleNames(a.Refused), ruleNames(b.Refused)
	case a.Bypassed != b.Bypassed:
		return "rules set aside", a.Bypassed.Names(), b.Bypassed.Names()
	}
	same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
	for i := range l.Variables {
		of := func(what string) string { return fmt.Sprintf("%s of variable %d", what, i+1) }
		switch {
		case l.Variables[i].OnFault == safety.RestNone:
		case a.Write[i] != b.Write[i]:
			return of("whether to write a setpoint"), a.Write[i], b.Write[i]
		case !same(a.Setpoint[i], b.Setpoint[i]):
			return of("setpoint"), shortest(a.Setpoint[i]), shortest(b.Setpoint[i])
		case a.Release[i] != b.Release[i]:
			return of("release"), a.Release[i], b.Release[i]
		case !same(a.Destination[i], b.Destination[i]):
			return of("destination"), shortest(a.Destination[i]), shortest(b.Destination[i])
		case a.Arrived[i] != b.Arrived[i], a.Failed[i] != b.Failed[i]:
			return of("arrival"), [2]bool{a.Arrived[i], a.Failed[i]}, [2]bool{b.Arrived[i], b.Failed[i]}
		case a.Reasons[i] != b.Reasons[i]:
			return of("rules that acted"), a.Reasons[i].Names(), b.Reasons[i].Names()
		}
	}
	return "", nil, nil
}

// ruleNames lists the rules of a set.
func ruleNames(c safety.Causes) string {
	var out []string
	for r := range safety.RuleCount {
		if c.Has(r) {
			out = append(out, r.String())
		}
	}
	return "[" + strings.Join(out, " ") + "]"
}

// shortest writes a number with as many digits as distinguish it from all others.
func shortest(x float64) string {
	if math.IsNaN(x) {
		return "none"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}
