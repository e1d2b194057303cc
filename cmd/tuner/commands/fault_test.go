package commands

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/labtuner/tuner/cmd/tuner/fault"
	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/disk"
	"github.com/labtuner/tuner/loop/plan"
	"testing"
)

func TestExitCodes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{fault.Usage(errors.New("x")), 3},
		{configs.NewError(configs.Problem{What: "x"}), 3},
		{fmt.Errorf("%w: x", plan.ErrOptions), 3},
		{fmt.Errorf("%w: %w", loop.ErrInstrument, drivers.ErrProtocol), 5},
		{fmt.Errorf("x: %w", drivers.ErrUnavailable), 5},
		{fmt.Errorf("%w: x", loop.ErrJournal), 6},
		{&disk.Error{Err: disk.ErrLocked}, 6},
		{fault.WithHint(&disk.Error{Err: journal.ErrExists}, "hint"), 6},
		{context.Canceled, 130},
		{host.ErrInterrupted, 130},
		// What is most dangerous wins.
		{errors.Join(fmt.Errorf("%w: x", loop.ErrUnsafe), context.Canceled, loop.ErrInstrument), 7},
		{errors.Join(loop.ErrInstrument, &disk.Error{Err: disk.ErrIO}), 6},
	} {
		if got := fault.ExitCode(c.err); got != c.want {
			t.Errorf("exit code of %v is %d, want %d", c.err, got, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	for want, err := range map[string]error{
		"":                                     nil,
		"tuner: error: x\ntuner: error: y\n":   errors.Join(errors.New("x"), errors.New("y")),
		"tuner: error: x\ntuner: hint: do y\n": fmt.Errorf("%w", fault.WithHint(errors.New("x"), "do y")),
		"tuner: error: a.toml:3: k: x\ntuner: hint: do y\ntuner: error: a.toml:9: z\n": configs.NewError(
			configs.Problem{File: "a.toml", Line: 9, What: "z"}, configs.Problem{File: "a.toml", Line: 3, Key: "k", What: "x", Hint: "do y"}),
		"tuner: error: journal \"a.db\" is locked: process 7 writes it\ntuner: hint: wait\n": &disk.Error{
			Err: disk.ErrLocked, Path: "a.db", Detail: "process 7 writes it", Hint: "wait"},
		"tuner: interrupted\n": fmt.Errorf("read: %w", context.Canceled),
	} {
		var b bytes.Buffer
		fault.Report(&b, err)
		if b.String() != want {
			t.Errorf("got\n%swant\n%s", b.String(), want)
		}
	}
}
