// Package advisor owns a run's policy: it is asked, taught and drawn on a worker of
// its own, and nothing else touches it.
//
//	Ask ──────> propose ───> Decided
//	Learn ────> observe ───> Learnt, with the recommendation
//	Recommend > recommend ─> Recommended
//	Rebuild ──> from record > Rebuilt
//	Draw ─────> look ──────> Drawn
//
// A policy that panics or errs has no state that could be trusted: it is made anew from
// the record before it is asked again. One that never answers keeps its worker for itself;
// its successor gets another, and an answer that still comes is dropped by its ticket.
package advisor
