package policy

import (
	"context"

	"github.com/labtuner/tuner/gpcore"
)

// meter counts the work units of a decision over all of its searches. After the first
// cut every search does one unit, which is not counted: so a decision that was cut
// after n units repeats when it is limited to n.
type meter struct {
	ctx   context.Context
	limit int // 0: none
	done  int
	cut   bool
}

// run lets a search work with what is left.
func (m *meter) run(s *gpcore.Search) []gpcore.Maximum {
	if m.limit > 0 && m.done >= m.limit || m.done > 0 && m.ctx.Err() != nil {
		m.cut = true
	}
	if m.cut {
		out, _ := s.Run(context.Background(), 1)
		return out
	}
	left := 0
	if m.limit > 0 {
		left = m.limit - m.done
	}
	out, done := s.Run(m.ctx, left)
	m.done += done
	m.cut = s.Cut()
	return out
}
