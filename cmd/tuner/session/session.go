// Package session is one run's life around the loop: it opens the journal, the control state,
// the socket, the pages and the broker before anything is driven, goes on with a run that was
// interrupted, tells people and the service manager how the run stands, takes a changed file
// over, and in the end writes the result and lets everything go.
package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/cmd/tuner/setup"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/configs"
	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/sim"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal"
	"github.com/labtuner/tuner/loop/journal/controlstate"
	"github.com/labtuner/tuner/loop/plan"
	"github.com/labtuner/tuner/loop/web"
)

// Start is what a session begins with.
type Start struct {
	Env *host.Env
	// Setup is the configuration.
	Setup *setup.Setup
	// json makes stdout one line of JSON per step, and one for the result.
	JSON bool
	// Path is the journal's.
	Path string
	// Resume says that the journal holds a run that goes on: one that is not finished or, with
	// Extend, one whose stop conditions have grown since.
	Resume, Extend bool
	// Clock is the virtual one of a simulation, else the computer's.
	Clock drivers.Clock
	// Warm is what the policy learns from earlier runs; of a resumed run its journal has it.
	Warm []journal.WarmSource
	// Tries are settings of a person's own, to be measured first; Tried names where they are from.
	Tries []control.Try
	Tried string
	// Remarks are printed first.
	Remarks []string
}

// Play runs the loop until it ends and tells what came of it. Cancelling ctx
// brings the actuators to their shutdown states first.
func Play(ctx context.Context, begin Start) error {
	s := &session{Start: begin}
	return s.play(ctx)
}

// session is one run of the loop, from the configuration to the last line.
type session struct {
	Start

	// began is when the session did, by this machine's clock.
	began   time.Time
	plant   *sim.Plant // nil where the instrument is real
	run     journal.Run
	journal *journal.Journal
	// panel takes commands to the run and tells how it stands; nil in a simulation.
	panel *control.Panel
	// metrics are what Prometheus may ask for, nil without a server.
	metrics *web.Metrics
	// control keeps latches and doses over crashes; nil where nothing is driven.
	control *controlstate.File
	// claims keep others from the instruments.
	claims  []io.Closer
	tell    *show.Narrator
	box     *show.Outbox
	service *notifier
	// heralds tell people by the ways of [notify], nil without it.
	heralds *heralds
	// base is the configuration as the file has it; Setup has what was changed meanwhile.
	base *setup.Setup
	// narrower brings a file that was changed to the loop; going is what it goes by.
	narrower *control.Narrower
	going    *configs.Config
	tally    outcome.Tally
	// latest is the run's last status, nil before the first.
	latest *control.Status
}

// play is the session's whole life.
func (s *session) play(ctx context.Context) error {
	s.began = s.Env.Now()
	s.tell = show.NewNarrator(s.Env.Stderr, s.Env.Style())
	defer s.tell.Close()
	if s.Setup.Options.Mode == plan.Simulate {
		for _, note := range s.Setup.PlantNotes {
			s.tell.Detail("plant: %s", note)
		}
	}
	var err error
	if s.service, err = newNotifier(s.Env.Manager, s.Clock, s.Setup.Options.Tick); err != nil {
		return err
	}
	defer s.service.close("not begun")
	deps, err := s.prepare(ctx)
	if err != nil {
		return errors.Join(err, s.closeControl())
	}
	ctx, readerGone := context.WithCancelCause(ctx)
	defer readerGone(nil)
	if s.JSON {
		s.box = show.NewOutbox(s.Env.Stdout, s.Setup.Options.Mode == plan.Simulate, func() { s.lostReader(readerGone) })
	}
	doors, err := s.openDoors(deps.Log)
	if err != nil {
		return errors.Join(err, s.journal.Close(), s.closeControl())
	}
	s.sayStart()
	if s.Setup.Options.Mode != plan.Simulate {
		s.narrower, s.going = control.NewNarrower(), s.Setup.Config
		deps.Narrower = s.narrower
		over, ended := context.WithCancel(ctx)
		defer ended()
		go s.reloadWhenAsked(over)
	}
	there, err := s.appear(deps.Log)
	if err != nil {
		return errors.Join(err, doors.stop(), s.journal.Close(), s.closeControl())
	}
	if s.Setup.Config.Web != nil && doors != nil {
		s.panel.MakeReachable()
		s.tell.Say("tuner: dashboard at %s", doors.text(s.Env.IsTerminal(s.Env.Stderr)))
	}
	doors.start(ctx)
	f := outcome.Finale{Tally: &s.tally, Levels: s.Env.SparkLevels()}
	f.Result, f.Err = loop.Run(ctx, s.Setup.Options, deps)
	s.heralds.finished(s.lastWords(f))
	there.leave()
	if context.Cause(ctx) == errReaderGone {
		f.Err = nil // what close says of stdout is the error
	}
	f.Took = s.Env.Now().Sub(s.began)
	s.service.close(s.lastWords(f))
	if s.plant != nil && s.Setup.Options.Mode == plan.Simulate {
		asking, stop := whileAsked(ctx)
		f.Truth, f.NoTruth = outcome.AskPlant(asking, s.Setup, s.plant, f.Result)
		stop()
		if f.NoTruth != nil && s.JSON { // the report says it where there is one
			s.tell.Say("tuner: warning: truth: %v", f.NoTruth)
		}
	}
	f.Line = outcome.NewLine(s.Setup, f.Result, f.Truth, f.Err)
	line, lineErr := show.EncodeLine(f.Line)
	closeErr := errors.Join(doors.stop(), s.closeJournal(f.Result, line))
	s.heralds.close()
	s.tell.Close()
	return errors.Join(f.Err, lineErr, closeErr, s.closeControl(), s.print(f, line))
}

// truthTime bounds how long the plant's best setting is searched.
const truthTime = time.Minute

// whileAsked is for as long as the plant is asked for its best setting: until a signal that comes now; one
// that has ended the run has been followed.
func whileAsked(ctx context.Context) (context.Context, context.CancelFunc) {
	if ctx.Err() != nil {
		ctx = context.WithoutCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, truthTime, fmt.Errorf("it takes more than %v", truthTime))
}

// errReaderGone ends a simulation whose lines nobody reads any more.
var errReaderGone = errors.New("stdout was closed")

// lostReader ends a simulation when stdout breaks; a run on a real instrument
// goes on, as its journal has everything.
func (s *session) lostReader(cancel context.CancelCauseFunc) {
	if s.Setup.Options.Mode == plan.Simulate {
		cancel(errReaderGone)
		return
	}
	s.tell.Say("tuner: warning: stdout was closed; the run goes on and the journal has every step")
}
