package policy

import "context"

// maximize works on the searches in turn, one unit each, until all are finished,
// units units are done (0: no such bound) or ctx has ended. It does at least one
// unit, and returns how many it did. The order of units is fixed, so a number of
// units says exactly what was done.
func maximize(ctx context.Context, searches []*search, p *pool, units int) int {
	done := 0
	for {
		idle := true
		for _, s := range searches {
			if s.finished() {
				continue
			}
			if done > 0 && (ctx.Err() != nil || units > 0 && done >= units) {
				return done
			}
			s.unit(p)
			done++
			idle = false
		}
		if idle {
			return done
		}
	}
}

// planned is the number of units that the searches take when nothing cuts them.
func planned(searches []*search) int {
	n := 0
	for _, s := range searches {
		n += s.plan.total()
	}
	return n
}
