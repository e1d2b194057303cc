package loop

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/stat"
)

// trimmedShare is the share of the shots that the trimmed mean leaves out at
// each end: a fifth keeps it robust against one outlier from five shots on.
const trimmedShare = 0.2

// statisticOf returns the function that a statistic's name stands for.
func statisticOf(name string) (func([]float64) float64, error) {
	switch name {
	case "", "mean":
		return func(v []float64) float64 { return stat.Mean(v, nil) }, nil
	case "median":
		return percentile(0.5), nil
	case "trimmed":
		return trimmedMean, nil
	}
	if digits, ok := strings.CutPrefix(name, "p"); ok {
		if p, err := strconv.Atoi(digits); err == nil && p >= 0 && p <= 100 {
			return percentile(float64(p) / 100), nil
		}
	}
	return nil, fmt.Errorf("%w: statistic %q is not mean, median, trimmed or p0 to p100", ErrOptions, name)
}

// percentile returns the quantile function for p, linear between the order
// statistics.
func percentile(p float64) func([]float64) float64 {
	return func(v []float64) float64 {
		s := slices.Sorted(slices.Values(v))
		if len(s) == 0 {
			return math.NaN()
		}
		at := p * float64(len(s)-1)
		low := int(at)
		high := min(low+1, len(s)-1)
		return s[low] + (at-float64(low))*(s[high]-s[low])
	}
}

// trimmedMean leaves out the same number of shots at both ends.
func trimmedMean(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	cut := int(trimmedShare * float64(len(s)))
	return stat.Mean(s[cut:len(s)-cut], nil)
}

// variance is the unbiased sample variance, NaN for fewer than two values.
func variance(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	return stat.Variance(v, nil)
}
