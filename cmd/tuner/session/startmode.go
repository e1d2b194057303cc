package session

import (
	"fmt"

	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/plan"
)

// StartMode says how a run begins: as the flag says, else by who has started it.
func StartMode(e *host.Env, flag string) (plan.StartMode, error) {
	switch flag {
	case "":
		if e.IsService() {
			return plan.StartHold, nil
		}
		return plan.StartNow, nil
	case "hold":
		return plan.StartHold, nil
	case "run":
		return plan.StartRun, nil
	case "never":
		return "", fault.WithHint(fmt.Errorf("%w: --resume never begins nothing; nothing was driven", loop.ErrSafety),
			"a person begins the run by typing tuner run CONFIG")
	}
	return "", fault.Usage(fault.WithHint(fmt.Errorf("--resume is %q", flag), "it is never, hold or run"))
}
