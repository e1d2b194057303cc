package show

import (
	"math"
	"strings"
)

// The levels of a sparkline, from the lowest value to the highest, for terminals that
// show Unicode and for all others.
const (
	UnicodeLevels = "▁▂▃▄▅▆▇█"
	ASCIILevels   = "_.:-=+*#"
)

// Sparkline draws values as one character each, scaled to their own range; NaN is a
// blank. All values the same are drawn in the middle.
func Sparkline(values []float64, levels string) string {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsNaN(v) {
			low, high = min(low, v), max(high, v)
		}
	}
	marks := []rune(levels)
	var b strings.Builder
	for _, v := range values {
		switch {
		case math.IsNaN(v):
			b.WriteByte(' ')
		case high == low:
			b.WriteRune(marks[len(marks)/2])
		default:
			// Halves, because the difference of two huge values may overflow.
			part := (v/2 - low/2) / (high/2 - low/2)
			b.WriteRune(marks[min(int(part*float64(len(marks))), len(marks)-1)])
		}
	}
	return b.String()
}
