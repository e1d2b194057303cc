package constraint

import (
	"math"

	"github.com/labtuner/tuner/loop/policy/internal/num"
	"github.com/labtuner/tuner/loop/policy/space"
)

// Restrict leaves of the settings, which are listed for each of domains, those that keep
// every constraint with probability Phi(beta) in a step, and says that there are some.
// Where there are none it leaves the one whose least probability is the greatest.
func (s *Set) Restrict(settings [][]float64, domains []*space.Domain, step int, beta float64) (feasible bool, err error) {
	if len(s.Each) == 0 {
		return true, nil
	}
	if len(s.withData()) == 0 { // nothing is known of them
		return false, nil
	}
	enough, most := num.NormalCDF(beta), math.Inf(-1)
	memory := s.random.Memory
	kept := s.settings.Take(memory, len(settings))
	nearest, at := -1, []float64(nil)
	for set, x := range settings {
		d := domains[set]
		kept[set] = memory.Floats(len(x))[:0]
		each, err := s.Feasibilities(d, step, x)
		if err != nil {
			return false, err
		}
		for k, f := range each {
			row := x[k*d.Size() : (k+1)*d.Size()]
			p := f.Min()
			if p >= enough {
				kept[set], feasible = append(kept[set], row...), true
			}
			if p > most {
				nearest, at, most = set, row, p
			}
		}
	}
	if !feasible && nearest >= 0 {
		kept[nearest] = at
	}
	copy(settings, kept)
	return feasible && len(s.withData()) == len(s.Each), nil
}
