package plan

import (
	"math"
	"math/bits"
	"slices"

	"github.com/labtuner/tuner/loop/journal"
)

// MaxPairs bounds a sign-flip test: 2^16 sums take some milliseconds.
const MaxPairs = 16

// MinPairs is the least for which 95 % confidence limits exist: of 2^6 equally likely
// intervals, leaving one out at each end leaves 96.9 %.
const MinPairs = 6

// PairedDifference is what a sample of paired differences says of their centre, in the unit
// of what was compared.
type PairedDifference struct {
	// Value is the mean of the differences; Low and High are limits that hold the centre
	// with 95 % confidence or a little more, NaN where there are too few pairs for that.
	Value journal.Number `json:"value"`
	Low   journal.Number `json:"low"`
	High  journal.Number `json:"high"`
	// P is how likely a mean as great as this, or greater, is where the centre is 0; PLess
	// as small or smaller, PTwoSided as far from 0.
	P         journal.Number `json:"p"`
	PLess     journal.Number `json:"p_less"`
	PTwoSided journal.Number `json:"p_two_sided"`
}

// signFlip is the exact sign-flip test (Fisher, The Design of Experiments, 1935,
// section 21): where the two sides do not differ, each difference could as well have had
// the other sign, so the mean that was seen is compared with those of all 2^n choices of
// signs. It needs differences that are symmetric about their centre, which those of two
// alike measurements are, and no normal distribution. The confidence limits belong to the
// same test: the means of all 2^n - 1 subsets divide the line into 2^n intervals that
// hold the centre with equal probability (Hartigan, "Using subsample values as typical
// values", JASA 64, 1969, theorem 1).
//
// d has 1 to maxPairs finite values. Cost: 2^n additions and sorting as many numbers.
func signFlip(d []float64) PairedDifference {
	n := len(d)
	sums := make([]float64, 1<<n)
	size := 0.0
	for i, x := range d {
		size += math.Abs(x)
		for set := range 1 << i {
			sums[1<<i|set] = sums[set] + x
		}
	}
	total := sums[len(sums)-1]
	// Sums that are equal but for rounding are equal.
	tie := size * 1e-12
	greater, less, two := 0, 0, 0
	for _, s := range sums { // with the signs of a subset turned the sum is total - 2 s
		if s <= tie {
			greater++
		}
		if s >= -tie {
			less++
		}
		if math.Abs(total-2*s) >= math.Abs(total)-tie {
			two++
		}
	}
	share := func(k int) journal.Number { return journal.Number(float64(k) / float64(len(sums))) }
	out := PairedDifference{Value: journal.Number(total / float64(n)), Low: journal.Number(math.NaN()), High: journal.Number(math.NaN()),
		P: share(greater), PLess: share(less), PTwoSided: share(two)}
	means := sums[1:]
	for i := range means {
		means[i] /= float64(bits.OnesCount(uint(i + 1)))
	}
	slices.Sort(means)
	if cut := len(sums) / 40; cut > 0 { // 2.5 % of the intervals at each end
		out.Low, out.High = journal.Number(means[cut-1]), journal.Number(means[len(means)-cut])
	}
	return out
}
