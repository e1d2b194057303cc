package protocol

import (
	"errors"

	"github.com/labtuner/tuner/drivers"
)

// Errors of a line that leave the port usable. What the instrument said is lost;
// before anything else is asked, the two sides must find together again.
var (
	ErrSilent = errors.New("no answer")
	ErrCut    = errors.New("the answer stops in the middle")
	ErrLong   = errors.New("the answer is too long")
	ErrNoise  = errors.New("the instrument talks without being asked and does not stop; is it in a continuous mode?")
)

// ErrMismatch is wrapped by the errors of scan: a line is not of the form that
// the template says. A mismatch never gives a value.
var ErrMismatch = errors.New("the answer does not have the form that is described")

// ErrFrame says that what came is no frame that answers the request.
var ErrFrame = errors.New("the frame is damaged or answers something else")

// ErrBusy says that the instrument works on it or has no time; it may be asked
// again.
var ErrBusy = errors.New("the instrument is busy")

// ErrAnother stands beside drivers.ErrRefused where an answer came that was not
// expected: of a setpoint that is a no, of a dose it is no more than that.
var ErrAnother = errors.New("another answer than expected")

// ErrRestarted says that the instrument told that it has restarted.
var ErrRestarted = errors.New("the instrument has restarted")

// Suspicious says that after this error the next answer could be one to an
// earlier question: nothing may be asked before both sides have found together.
func Suspicious(err error) bool {
	for _, kind := range []error{ErrSilent, ErrCut, ErrLong, ErrMismatch, ErrNoise, ErrRestarted, ErrFrame, ErrBusy} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// Unanswered says that the error is one of a line on which the answer may be still to come, or
// on which nobody may be any more.
func Unanswered(err error) bool {
	return errors.Is(err, ErrSilent) || errors.Is(err, ErrCut) || errors.Is(err, ErrLong) || errors.Is(err, ErrFrame) || errors.Is(err, ErrNoise)
}

// Refused says that the instrument understood and said no.
func Refused(err error) bool { return errors.Is(err, drivers.ErrRefused) }
