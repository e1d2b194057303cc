package policy

import "math"

// restrict leaves of the settings, which are listed for each of domains, those that keep
// every constraint with probability Phi(beta) in a step, and says that there are some.
// Where there are none it leaves the one whose least probability is the greatest.
func (s *constraints) restrict(settings [][]float64, domains []*domain, step int, beta float64) (feasible bool, err error) {
	if len(s.each) == 0 {
		return true, nil
	}
	if len(s.binding()) == 0 { // nothing is known of them
		return false, nil
	}
	enough, most := normalCDF(beta), math.Inf(-1)
	kept := make([][]float64, len(settings))
	nearest, at := -1, []float64(nil)
	for set, x := range settings {
		d := domains[set]
		each, err := s.feasibilities(d, step, x)
		if err != nil {
			return false, err
		}
		for k, f := range each {
			row := x[k*d.size() : (k+1)*d.size()]
			p := f.least()
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
	return feasible && len(s.binding()) == len(s.each), nil
}
