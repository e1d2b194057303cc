package figure

import (
	"math"
	"strconv"
)

// span is the part of an axis that is drawn, with its kind.
type span struct {
	low, high float64
	log       bool
}

// share is where a value lies, 0 at the low end and 1 at the high end; NaN where it has no place.
func (s span) share(v float64) float64 {
	if s.log {
		if v <= 0 {
			return math.NaN()
		}
		return (math.Log(v) - math.Log(s.low)) / (math.Log(s.high) - math.Log(s.low))
	}
	return (v - s.low) / (s.high - s.low)
}

// spanOf is what an axis shows of data.
func (a Axis) spanOf(data limits) span {
	low, high := data.low, data.high
	if a.Log {
		low = data.positive
	}
	if len(a.Names) > 0 {
		return span{-0.5, float64(len(a.Names)) - 0.5, false}
	}
	if a.Low != 0 || a.High != 0 {
		low, high = a.Low, a.High
	} else if a.Log {
		low, high = low/1.1, high*1.1
	} else if !a.Tight {
		margin := 0.04 * (high - low)
		low, high = low-margin, high+margin
	}
	switch {
	case math.IsNaN(low) || math.IsNaN(high) || math.IsInf(low, 0) || math.IsInf(high, 0) || a.Log && low <= 0:
		if a.Log {
			return span{1, 10, true}
		}
		return span{0, 1, false}
	case !(high > low): // a single value stands in the middle
		room := max(math.Abs(low)*0.1, 1e-9)
		if a.Whole {
			room = 1
		}
		if a.Log {
			return span{low / 2, low * 2, true}
		}
		return span{low - room, low + room, false}
	}
	return span{low, high, a.Log}
}

// tick is a mark on an axis with its text.
type tick struct {
	at   float64
	text string
}

// ticks are marks for a span, about so many: at 1, 2 or 5 times powers of ten.
func (a Axis) ticks(s span, about int) []tick {
	if len(a.Names) > 0 {
		out := make([]tick, len(a.Names))
		for i, name := range a.Names {
			out[i] = tick{float64(i), name}
		}
		return out
	}
	if s.log && s.high/s.low > 5 {
		return logTicks(s, about)
	}
	step := stepOf(s.high-s.low, about)
	if a.Whole {
		step = max(step, 1)
	}
	var out []tick
	for k := math.Ceil(s.low / step * (1 - 1e-12)); k*step <= s.high+step*1e-9; k++ {
		if v := k * step; v >= s.low-step*1e-9 {
			out = append(out, tick{v, number(v, step)})
		}
		if len(out) > 4*about {
			break // a step that is too small to count by
		}
	}
	return out
}

// stepOf is the distance between marks: the least of 1, 2, 5 times a power of ten that
// gives at most about so many.
func stepOf(width float64, about int) float64 {
	rough := width / float64(max(about, 1))
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= rough*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// logTicks are at powers of ten, and at 2 and 5 times them where there is room.
func logTicks(s span, about int) []tick {
	decades := math.Log10(s.high / s.low)
	multiples := []float64{1, 2, 5}
	if decades*3 > float64(about) {
		multiples = multiples[:1]
	}
	every := math.Ceil(decades / float64(max(about, 1)))
	var out []tick
	for p := math.Floor(math.Log10(s.low)); p <= math.Log10(s.high); p++ {
		if math.Mod(p, every) != 0 {
			continue
		}
		for _, m := range multiples {
			if v := m * math.Pow(10, p); v >= s.low*(1-1e-9) && v <= s.high*(1+1e-9) {
				out = append(out, tick{v, strconv.FormatFloat(v, 'g', 4, 64)})
			}
		}
	}
	return out
}

// number writes a value as exactly as a step between marks asks.
func number(v, step float64) string {
	if math.Abs(v) < step/2 {
		return "0"
	}
	if size := math.Abs(v); size >= 1e6 || size < 1e-4 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	digits := max(0, -int(math.Floor(math.Log10(step)+1e-9)))
	return strconv.FormatFloat(v, 'f', digits, 64)
}
