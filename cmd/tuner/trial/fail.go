package trial

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"

	"github.com/labtuner/tuner/cmd/tuner/commands"
	"github.com/labtuner/tuner/cmd/tuner/host"
)

// failpointMain is main with a way to die: TUNER_FAILPOINT=NAME@N kills the process, as
// SIGKILL does, when it passes the failpoint NAME for the N-th time; with
// TUNER_FAILSIGNAL=INT it is asked to end, as by Ctrl-C. Only this test binary has it.
func failpointMain() {
	e, then := host.Process(), die
	if os.Getenv("TUNER_FAILSIGNAL") == "INT" {
		then = interrupting(e)
	}
	e.Failpoint = failpointOf(os.Getenv("TUNER_FAILPOINT"), then)
	if os.Getenv(Hasty) == "" {
		e.Slowness = 12 // a minute where the product gives 5 s
	}
	os.Exit(commands.Execute(context.Background(), e))
}

// interrupting gives what asks the process of an environment to end, and returns once it knows.
func interrupting(e *host.Env) func() {
	fromOutside, all := e.Signals, make(chan os.Signal)
	e.Signals = all
	go func() {
		for s := range fromOutside {
			all <- s
		}
	}()
	return func() {
		all <- os.Interrupt
		all <- os.Interrupt // this one is taken when the first has had its effect
	}
}

// Hasty, in the environment of a test's tuner, has it wait no longer than the product does:
// for what never comes.
const Hasty = "TUNER_TEST_HASTY"

// die ends the process as SIGKILL does; nothing more happens on the goroutine.
func die() {
	_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	select {}
}

// failpointOf does what is asked for at a failpoint. It gives nil for no text.
func failpointOf(text string, then func()) func(string) {
	name, count, _ := strings.Cut(text, "@")
	if name == "" {
		return nil
	}
	at, err := strconv.Atoi(count)
	if err != nil {
		panic(fmt.Sprintf("TUNER_FAILPOINT=%q is not NAME@N", text))
	}
	var passed atomic.Int64
	return func(here string) {
		if here == name && passed.Add(1) == int64(at) {
			then()
		}
	}
}
