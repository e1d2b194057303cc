package advisor

import (
	"math"
	"time"

	"github.com/labtuner/tuner/loop/policy"
)

// The axes of unitTimes: readings that the model holds, and variables.
var (
	tabledReadings  = []float64{100, 256, 500, 1024}
	tabledVariables = []float64{3, 5, 10, 40}
)

// unitTimes are the processor times of one unit of work, in milliseconds, by readings and variables: about the
// middle of seven kinds of policy (TestDeadline -grid -deadline 0) on one core that makes 59e9 floating-point operations a second:
// what one that makes 137e9 took, doubled, since the table before this one stood at twice what that one took. A kind may take a
// third or three times as much.
var unitTimes = [4][4]float64{
	{0.1, 0.2, 0.3, 0.4},
	{0.3, 0.4, 0.5, 0.7},
	{0.5, 0.6, 0.7, 0.8},
	{0.7, 0.9, 1.0, 1.1},
}

// UnitTime is what a unit of work takes by a table, the same on every computer: between its values as the
// logarithms are, beyond them as at the nearest.
func UnitTime(readings, variables int) time.Duration {
	i, f := between(tabledReadings, float64(readings))
	j, g := between(tabledVariables, float64(variables))
	at := func(i, j int) float64 { return math.Log(unitTimes[i][j]) }
	ms := math.Exp((1-f)*((1-g)*at(i, j)+g*at(i, j+1)) + f*((1-g)*at(i+1, j)+g*at(i+1, j+1)))
	return time.Duration(ms * float64(time.Millisecond))
}

// between finds v among ascending values: behind value i by the fraction f of the way to the next, in logarithms.
func between(values []float64, v float64) (i int, f float64) {
	for i < len(values)-2 && v > values[i+1] {
		i++
	}
	f = math.Log(max(v, 1)/values[i]) / math.Log(values[i+1]/values[i])
	return i, min(max(f, 0), 1)
}

// allowedUnits are the units of work that a decision may do within the deadline by the table, at least one.
func (o *Options) allowedUnits(p policy.Policy) int {
	readings := 0
	if s, ok := p.(policy.Sizer); ok {
		readings = s.Size().Observations
	}
	return max(1, int(o.Deadline/o.UnitTime(readings)))
}
