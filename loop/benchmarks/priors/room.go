package priors

import (
	"math"
	"math/rand/v2"
	"sync"
)

// The room stands in for the paper's temperatures of 46 sensors in a laboratory (Intel), whose
// recordings no package registry in use carries. Form and size are the paper's: one prior for each
// of 12 days; the objective is one snapshot of one of 7 other days, so no prior is the true one.
// The temperatures are ours, by a formula: see roomDay.
const (
	roomSensors  = 46
	roomTraining = 12
	roomTest     = 7
	roomMoments  = 48 // of a day, one every half hour
)

// room asks which of 46 sensors is the warmest.
func room() *recording {
	return &recording{name: "room", figure: "Intel (a stand-in)", about: "which of 46 sensors in a room is the warmest, by the means and covariances of 12 other days",
		noiseSD: 0.7, ownSD: 0.3, snapshots: sync.OnceValue(roomSnapshots)}
}

// roomSnapshots are those of all days.
func roomSnapshots() (out snapshots) {
	for d := range roomTraining + roomTest {
		if d < roomTraining {
			out.known = append(out.known, roomDay(d))
		} else {
			out.asked = append(out.asked, roomDay(d))
		}
	}
	return out
}

// roomPlace is where a sensor hangs, in metres, in a room of 40 m by 30 m with windows along y = 0:
// points of the R2 sequence, which cover a rectangle evenly.
func roomPlace(sensor int) (x, y float64) {
	const plastic = 1.32471795724474602596 // the real root of p³ = p + 1
	_, u := math.Modf(0.5 + float64(sensor+1)/plastic)
	_, v := math.Modf(0.5 + float64(sensor+1)/(plastic*plastic))
	return 40 * u, 30 * v
}

// roomDay has the temperatures of a day in °C, [snapshot][sensor]: the whole room follows the
// weather and the hour, the sun moves along the windows from 6 to 18 h, people warm a corner from
// 8 to 18 h, and draughts wander. Each sensor has an offset of its own.
func roomDay(d int) [][]float64 {
	offsets := rand.New(rand.NewPCG(46, 0))
	offset := make([]float64, roomSensors)
	for i := range offset {
		offset[i] = 0.3 * offsets.NormFloat64()
	}
	rng := rand.New(rand.NewPCG(46, uint64(d)+1))
	weather, sun, people := 2*rng.NormFloat64(), 6*rng.Float64(), 3*rng.Float64()
	out := make([][]float64, roomMoments)
	for s := range out {
		hour := 24 * float64(s) / roomMoments
		air := draught(rng)
		out[s] = make([]float64, roomSensors)
		for i := range out[s] {
			x, y := roomPlace(i)
			out[s][i] = 19 + weather + 1.5*math.Sin(2*math.Pi*(hour-9)/24) + sun*sunshine(hour, x, y) +
				people*bodies(hour, x, y) + air(x, y) + offset[i] + 0.1*rng.NormFloat64()
		}
	}
	return out
}

// sunshine is how much of the sun a place has, 0 to 1.
func sunshine(hour, x, y float64) float64 {
	if hour < 6 || hour > 18 {
		return 0
	}
	share := (hour - 6) / 12
	off := (x - 40*share) / 6
	return math.Sin(math.Pi*share) * math.Exp(-off*off/2-y/8)
}

// bodies is how much of people's warmth a place has, 0 to 1.
func bodies(hour, x, y float64) float64 {
	if hour < 8 || hour > 18 {
		return 0
	}
	dx, dy := (x-30)/5, (y-22)/5
	return math.Exp(-(dx*dx + dy*dy) / 2)
}

// draught draws a smooth field of standard deviation 0.5 K and a lengthscale of 8 m: a sum of
// random waves.
func draught(rng *rand.Rand) func(x, y float64) float64 {
	const waves = 8
	var kx, ky, phase [waves]float64
	for i := range kx {
		kx[i], ky[i], phase[i] = rng.NormFloat64()/8, rng.NormFloat64()/8, 2*math.Pi*rng.Float64()
	}
	return func(x, y float64) float64 {
		sum := 0.0
		for i := range kx {
			sum += math.Cos(kx[i]*x + ky[i]*y + phase[i])
		}
		return 0.5 * math.Sqrt(2.0/waves) * sum
	}
}
