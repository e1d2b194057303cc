package instrument

import (
	"math"
	"time"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/plan"
)

// Variables is where each variable stands, with the ranges of now.
func (x *Instrument) Variables(o *plan.Options, now time.Time, ranges func(i int) [2]float64) []control.VariableStatus {
	none, all := journal.Number(math.NaN()), make([]control.VariableStatus, 0, len(o.Variables))
	for i := range o.Variables {
		v, e, within := &o.Variables[i], x.Variable(i), ranges(i)
		dest, driven := x.Wanted(i)
		s := control.VariableStatus{Name: v.Name, Unit: v.Unit, Low: journal.Number(within[0]), High: journal.Number(within[1]), Driven: driven, Released: x.Released(i), Frozen: v.Frozen,
			Readback: none, Age: none, Setpoint: journal.Number(x.Written(i)), Wanted: none}
		if v.Actuated {
			s.OnStop, s.OnEnd = o.RestWord(i, v.OnStop(), x.Lapses), o.RestWord(i, v.Shutdown, x.Lapses)
		}
		if e.Known {
			s.Readback, s.Age = journal.Number(e.Value), control.Seconds(now.Sub(e.At))
		}
		if driven {
			s.Wanted = journal.Number(dest)
		}
		all = append(all, s)
	}
	return all
}

// Sensors is what each sensor says.
func (x *Instrument) Sensors(o *plan.Options, now time.Time) []control.SensorStatus {
	none, all := journal.Number(math.NaN()), make([]control.SensorStatus, 0, len(o.Sensors))
	for i := range o.Sensors {
		v, e := &o.Sensors[i], x.Sensor(i)
		s := control.SensorStatus{Name: v.Name, Unit: v.Unit, Value: none, Age: none, Valid: e.Fresh(now, v.MaxAge), Odd: v.OddWords(e, x.OddSensor(i), now)}
		if e.Known {
			s.Value, s.Age = journal.Number(e.Value), control.Seconds(now.Sub(e.At))
		}
		all = append(all, s)
	}
	return all
}

// StartSetting is the declared starting value of each variable, else what was read at boot; NaN for one that
// is let go.
func (x *Instrument) StartSetting() []float64 {
	at := make([]float64, len(x.plan.Variables))
	for i := range at {
		v, e := &x.plan.Variables[i], x.Variable(i)
		switch {
		case !math.IsNaN(v.Start):
			at[i] = v.Start
		case v.Actuated && v.Boot != plan.RestOff && e.Known:
			at[i] = min(max(e.Value, v.Low), v.High)
		default:
			at[i] = math.NaN()
		}
	}
	return at
}
