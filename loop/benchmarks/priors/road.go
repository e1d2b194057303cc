package priors

import (
	"math"
	"math/rand/v2"
	"sync"
)

// The road stands in for the paper's speeds of cars at 211 sensors along a motorway (PeMS), whose
// recordings no package registry in use carries. Form and size are the paper's: one prior for each
// of the 7 hours from 6 to 13, learnt from 20 days; the objective is a moment of one of 10 later
// days, and the slowest place is looked for. The speeds are ours, by a formula: see roadHour.
const (
	roadSensors  = 211
	roadHours    = 7 // from 6 h on
	roadTraining = 20
	roadTest     = 10
	roadMoments  = 12 // of an hour, one every five minutes
)

// road asks where cars are slowest; the objective is the speed in miles per hour, negated.
func road() *recording {
	return &recording{name: "road", figure: "PeMS (a stand-in)", about: "at which of 211 places on a road cars are slowest, by the means and covariances of 7 hours of the day",
		noiseSD: 2.25, ownSD: 1, same: true, snapshots: sync.OnceValue(roadSnapshots)}
}

// roadSnapshots are those of all days.
func roadSnapshots() snapshots {
	out := snapshots{make([][][]float64, roadHours), make([][][]float64, roadHours)}
	for day := range roadTraining + roadTest {
		rng := rand.New(rand.NewPCG(211, uint64(day)))
		jams := roadJams(rng)
		for hour := range roadHours {
			rows := roadHour(hour, jams, rng)
			if day < roadTraining {
				out.known[hour] = append(out.known[hour], rows...)
			} else {
				out.asked[hour] = append(out.asked[hour], rows...)
			}
		}
	}
	return out
}

// jam is where and when cars queue: places are sensors' numbers, times hours of the day.
type jam struct{ place, hour, length, lasts, depth float64 }

// roadJams are those of a day: three bottlenecks that queue in most mornings, each a little
// elsewhere, longer and worse from day to day, and an accident anywhere.
func roadJams(rng *rand.Rand) []jam {
	out := []jam{
		{place: 40, hour: 7.5, length: 12, lasts: 0.8, depth: 30},
		{place: 110, hour: 8.5, length: 18, lasts: 1.2, depth: 35},
		{place: 175, hour: 11.5, length: 10, lasts: 1, depth: 25},
	}
	for i := range out {
		j := &out[i]
		j.place += 4 * rng.NormFloat64()
		j.hour += 0.3 * rng.NormFloat64()
		j.length *= math.Exp(0.3 * rng.NormFloat64())
		j.depth *= math.Exp(0.3 * rng.NormFloat64())
	}
	return append(out, jam{place: roadSensors * rng.Float64(), hour: 6 + roadHours*rng.Float64(), length: 5, lasts: 0.4, depth: 25 * rng.Float64()})
}

// roadHour has the negated speeds of an hour, [moment][sensor], hour 0 being from 6 to 7 h: 65 miles
// per hour where the road is free, and at least 5.
func roadHour(hour int, jams []jam, rng *rand.Rand) [][]float64 {
	out := make([][]float64, roadMoments)
	for m := range out {
		now := 6 + float64(hour) + float64(m)/roadMoments
		out[m] = make([]float64, roadSensors)
		for i := range out[m] {
			speed := 65.0
			for _, j := range jams {
				dx, dt := (float64(i)-j.place)/j.length, (now-j.hour)/j.lasts
				speed -= j.depth * math.Exp(-(dx*dx+dt*dt)/2)
			}
			out[m][i] = -max(5, speed+rng.NormFloat64())
		}
	}
	return out
}
