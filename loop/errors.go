package loop

import (
	"errors"
	"fmt"
)

// What Run's error wraps, so that a caller can tell what happened.
var (
	// ErrInstrument: a device failed or gives no data.
	ErrInstrument = errors.New("instrument failed")
	// ErrUnsafe: an actuator's declared rest state could not be confirmed.
	ErrUnsafe = errors.New("safe state not confirmed")
	// ErrLeft is an ErrUnsafe: nothing was driven, and the process before was killed.
	ErrLeft = fmt.Errorf("%w: nothing was driven, and the process before, which was killed, has left the actuators as they were", ErrUnsafe)
	// ErrSafety: the safety layer held too long, fell back, tripped, was stopped or
	// refused the start.
	ErrSafety = errors.New("stopped by the safety layer")
	// ErrPolicy: the policy does not answer.
	ErrPolicy = errors.New("policy failed")
	// ErrJournal: the record could not be written.
	ErrJournal = errors.New("journal failed")
)
