package safety

import (
	"math/bits"
	"time"
)

// The counts of the rules on readings.
const (
	// rangeMax readings in a row out of range hold the run. Not fewer: one garbled
	// answer may pass. Not more: at ten readings a second it is noticed in 0.3 s.
	rangeMax = 3
	// window is how many readings spike detection looks at: the median of five is not
	// moved by two wrong ones.
	window = 5
	// spikesMax spikes among the last window readings hold the run: then it is not
	// known which half is wrong.
	spikesMax = 3
)

// SensorState is what the layer remembers of one sensor.
type SensorState struct {
	// Last is the last value believed.
	Last Sample
	// OutOfRange counts values out of range in a row.
	OutOfRange int
	// Same counts bit-identical values in a row; OutputMoved says that an actuator
	// has been moved since the first of them.
	Same        int
	OutputMoved bool
	raw         float64
	// recent are the last readings in range, the newest at position next-1; spiked
	// has a bit for each of the last ones that was a spike.
	recent [window]Sample
	next   int
	spiked uint8
	// Differs says that another sensor has disagreed since DiffersSince.
	Differs      bool
	DiffersSince time.Duration
}

// Verdict is what becomes of a reading.
type Verdict uint8

// The verdicts.
const (
	// Valid: the value is current.
	Valid Verdict = iota
	// OutOfRange: not finite, or outside the sensor's range: no data.
	OutOfRange
	// Spike: too far from the median of the last five to be believed: no data.
	Spike
)

// Accept judges one reading and returns what is remembered after it. Every reading
// passes through it, also several in one tick.
func (l *SensorLimits) Accept(s SensorState, r Sample) (SensorState, Verdict) {
	if !r.finite() || r.Value < l.Low || r.Value > l.High {
		s.OutOfRange = min(s.OutOfRange+1, rangeMax)
		return s, OutOfRange
	}
	s.OutOfRange = 0
	if s.Same > 0 && r.Value == s.raw {
		s.Same = min(s.Same+1, max(l.Stuck, 1))
	} else {
		s.Same, s.OutputMoved = 1, false
	}
	s.raw = r.Value
	spike := l.Rate > 0 && s.isSpike(r, l.Rate)
	s.recent[s.next%window] = r
	s.next = s.next%window + 1
	s.spiked = s.spiked << 1 & (1<<window - 1)
	if spike {
		s.spiked |= 1
		return s, Spike
	}
	s.Last = r
	return s, Valid
}

// spikes counts the spikes among the last readings.
func (s *SensorState) spikes() int { return bits.OnesCount8(s.spiked) }

// isSpike compares a reading with the median of the last ones: it may differ by
// what the rate allows in the time between the two. Nothing is known of the first
// readings.
func (s *SensorState) isSpike(r Sample, rate float64) bool {
	order := s.recent
	n := 0
	for _, x := range order {
		if !x.Known {
			continue
		}
		at := n
		for at > 0 && order[at-1].Value > x.Value {
			order[at] = order[at-1]
			at--
		}
		order[at] = x
		n++
	}
	if n < window {
		return false
	}
	m := order[window/2]
	reach := rate * max(r.At-m.At, 0).Seconds()
	return r.Value > m.Value+reach || r.Value < m.Value-reach
}
