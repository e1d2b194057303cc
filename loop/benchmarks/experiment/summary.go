package experiment

import (
	"math"
	"slices"
)

// Summary describes one metric over the repetitions of a result.
type Summary struct {
	Metric string
	// Count is the number of repetitions that have the metric, Missing that of the others.
	Count, Missing int
	// Mean, StandardError (of the mean, from the sample standard deviation; NaN for one
	// repetition) and Median.
	Mean, StandardError, Median float64
}

// Summarise describes every metric of the experiment. Repetitions that ended in an error
// are left out, and counted by Failed.
func Summarise(x *Experiment, r *Result) []Summary {
	out := make([]Summary, len(x.Metrics))
	for i, m := range x.Metrics {
		var values []float64
		for k := range r.Seeds {
			if s := &r.Seeds[k]; s.Error == "" {
				values = append(values, m.Of(s))
			}
		}
		out[i] = SummaryOf(m.Name, values)
	}
	return out
}

// Failed is the number of repetitions that ended in an error.
func (r *Result) Failed() int {
	n := 0
	for i := range r.Seeds {
		if r.Seeds[i].Error != "" {
			n++
		}
	}
	return n
}

// SummaryOf summarises the values that are there; NaN counts as missing.
func SummaryOf(name string, values []float64) Summary {
	there := slices.DeleteFunc(slices.Clone(values), math.IsNaN)
	n := len(there)
	s := Summary{Metric: name, Count: n, Missing: len(values) - n,
		Mean: math.NaN(), StandardError: math.NaN(), Median: math.NaN()}
	if n == 0 {
		return s
	}
	slices.Sort(there)
	s.Median = (there[(n-1)/2] + there[n/2]) / 2
	s.Mean = 0
	for _, v := range there {
		s.Mean += v / float64(n)
	}
	if n > 1 {
		squares := 0.0
		for _, v := range there {
			squares += (v - s.Mean) * (v - s.Mean)
		}
		s.StandardError = math.Sqrt(squares / float64(n-1) / float64(n))
	}
	return s
}
