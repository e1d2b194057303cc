package trial

import (
	"context"
	"fmt"
	"os"
	"os/signal"
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
func failpointMain() { os.Exit(execute()) }

// execute is main's work, and its exit code.
func execute() int {
	e, ctx, then := host.Process(), context.Background(), die
	if os.Getenv("TUNER_FAILSIGNAL") == "INT" {
		interrupted, stop := signal.NotifyContext(ctx, syscall.SIGINT)
		defer stop()
		ctx, then = interrupted, func() {
			_ = syscall.Kill(os.Getpid(), syscall.SIGINT)
			<-interrupted.Done() // it does not go on as if nobody had asked
		}
	}
	e.Failpoint = failpointOf(os.Getenv("TUNER_FAILPOINT"), then)
	if os.Getenv(Hasty) == "" {
		e.Slowness = 12 // a minute where the product gives 5 s
	}
	return commands.Execute(ctx, e)
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
