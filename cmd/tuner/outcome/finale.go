package outcome

import (
	"time"

	"github.com/labtuner/tuner/loop"
)

// Finale is what a session ends with.
type Finale struct {
	Result loop.Result
	// Err is what ended the run, nil at a stop condition.
	Err   error
	Truth *truth
	Tally *Tally
	// Levels are those of a sparkline that the terminal can show.
	Levels string
	// Took is the time by this machine's clock.
	Took time.Duration
}
