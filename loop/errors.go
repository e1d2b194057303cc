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
	// ErrLeft is an ErrUnsafe: this process has driven nothing, and of the one before it is not on
	// record that it brought the actuators to rest: it was killed, or could not confirm that.
	ErrLeft = fmt.Errorf("%w: this process has driven nothing, and the record does not say that the one before brought the actuators to rest: it was killed, or could not confirm that", ErrUnsafe)
	// ErrSafety: the safety layer held too long, fell back, tripped, was stopped or
	// refused the start.
	ErrSafety = errors.New("stopped by the safety layer")
	// ErrPolicy: the policy does not answer.
	ErrPolicy = errors.New("policy failed")
	// ErrJournal: the record could not be written.
	ErrJournal = errors.New("journal failed")
)
