package plan

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat"
)

// trimmedShare is the share of the shots that the trimmed mean leaves out at
// each end: a fifth keeps it robust against one outlier from five shots on.
const trimmedShare = 0.2

// Statistic makes a step's value of the values of its shots, and says how sure that is.
type Statistic struct {
	// Value needs one shot at least.
	Value func(v []float64) float64
	// StandardError estimates the standard deviation of value over repetitions of the
	// step, from its own shots; NaN for fewer than two.
	StandardError func(v []float64) float64
}

// StatisticNamed returns the statistic with a name.
func StatisticNamed(name string) (Statistic, error) {
	switch name {
	case "", "mean":
		return Statistic{func(v []float64) float64 { return stat.Mean(v, nil) }, meanError}, nil
	case "median":
		return percentile(0.5), nil
	case "trimmed":
		return Statistic{trimmedMean, trimmedError}, nil
	}
	if digits, ok := strings.CutPrefix(name, "p"); ok {
		if p, err := strconv.Atoi(digits); err == nil && p >= 0 && p <= 100 {
			return percentile(float64(p) / 100), nil
		}
	}
	return Statistic{}, fmt.Errorf("%w: statistic %q is not mean, median, trimmed or p0 to p100", ErrOptions, name)
}

// meanError is s / sqrt(k).
func meanError(v []float64) float64 { return math.Sqrt(Variance(v) / float64(len(v))) }

// percentile returns the quantile for p, linear between the order statistics.
func percentile(p float64) Statistic {
	return Statistic{
		Value: func(v []float64) float64 {
			s := slices.Sorted(slices.Values(v))
			if len(s) == 0 {
				return math.NaN()
			}
			at := p * float64(len(s)-1)
			low := int(at)
			high := min(low+1, len(s)-1)
			return s[low] + (at-float64(low))*(s[high]-s[low])
		},
		StandardError: func(v []float64) float64 { return quantileError(v, p) },
	}
}

// quantileError is the standard error of the quantile for p by Maritz and Jarrett, "A
// note on estimating the variance of the sample median", JASA 73 (1978): the m-th of n
// ordered values is distributed as Beta(m, n-m+1) says over the ordered sample; with
// m = 1 + p (n-1), which need not be whole.
func quantileError(v []float64, p float64) float64 {
	n := len(v)
	if n < 2 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	m := 1 + p*float64(n-1)
	below, mean, square := 0.0, 0.0, 0.0
	for i, x := range s {
		upTo := mathext.RegIncBeta(m, float64(n)-m+1, float64(i+1)/float64(n))
		d := x - s[0] // of large values the squares would cancel
		mean, square = mean+(upTo-below)*d, square+(upTo-below)*d*d
		below = upTo
	}
	return math.Sqrt(max(square-mean*mean, 0))
}

// trim is how many of n shots the trimmed mean leaves out at each end.
func trim(n int) int { return int(trimmedShare * float64(n)) }

// trimmedMean leaves out the same number of shots at both ends.
func trimmedMean(v []float64) float64 {
	s := slices.Sorted(slices.Values(v))
	cut := trim(len(s))
	return stat.Mean(s[cut:len(s)-cut], nil)
}

// trimmedError is the standard error of the trimmed mean by Tukey and McLaughlin,
// Sankhya A 25 (1963): sqrt(S / (h (h-1))) with the h shots that count and S the sum of
// squares about their mean of the sample in which those left out are replaced by the
// outermost that count.
func trimmedError(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(v))
	cut := trim(len(s))
	for i := range cut {
		s[i], s[len(s)-1-i] = s[cut], s[len(s)-1-cut]
	}
	h := float64(len(s) - 2*cut)
	return math.Sqrt(stat.Variance(s, nil) * float64(len(s)-1) / (h * (h - 1)))
}

// Variance is the unbiased sample variance, NaN for fewer than two values.
func Variance(v []float64) float64 {
	if len(v) < 2 {
		return math.NaN()
	}
	return stat.Variance(v, nil)
}
