package ask

import (
	"context"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/plan"
)

// makeSafePatience bounds the wait for a run that is asked to make safe. Not longer: one that
// hangs is to be gone round.
const makeSafePatience = 2 * time.Second

// MakeSafe has the run of this computer that an argument names make safe, and prints its
// answer; done says that it has. Without an error there is no such run.
func MakeSafe(ctx context.Context, e *host.Env, argument string) (done bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, makeSafePatience)
	defer cancel()
	q := Question{Env: e, Command: control.CommandStop}
	err = q.Find(ctx, argument)
	switch {
	case IsFile(argument) && q.Run == nil: // what follows reports what is wrong with the file
		return false, nil
	case err != nil:
		return false, err
	case q.Run.Identity.Mode != plan.Live:
		return false, nil
	}
	a, err := q.askHere(ctx, nil)
	if err != nil {
		return false, err
	}
	err = q.print(a)
	return err == nil, err
}
