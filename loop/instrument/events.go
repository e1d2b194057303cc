package instrument

import (
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop/journal"
)

// What an instrument tells of.
type (
	// Opened: a device was opened for the first time, or could not be because of Err; All
	// says that all of them are open.
	Opened struct {
		Device string
		Err    error
		All    bool
	}
	// Heard: a reading has come, of which Accept takes what the safety layer believes.
	// Asked is when the question was put: a shot counts only if both question and answer
	// lie after the settling. It holds until the device is asked again.
	Heard struct {
		Device  int
		Reading drivers.Reading
		Asked   time.Time
	}
	// NoValue: a device says that no value comes of what was asked.
	NoValue struct {
		Asked time.Time
		Err   error
	}
	// Troubled: a call of a device has failed, for those who count.
	Troubled struct{ Device, Doing string }
	// Broken: a device cannot be used any more, and is not waited for.
	Broken struct {
		Device int
		Err    error
	}
	// DoseResolved: what became of a dose, whose intent is an action of the journal.
	DoseResolved struct {
		Action   int64
		State    journal.ActionState
		Readback map[string]float64
		Message  string
	}
	// Said is a line of the run's story.
	Said struct{ Level, Kind, Message string }
	// Closed: a device has been closed.
	Closed struct{}
)
