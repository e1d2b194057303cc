package session

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/outcome"
	"github.com/labtuner/tuner/cmd/tuner/runfiles"
	"github.com/labtuner/tuner/loop/local"
	"github.com/labtuner/tuner/loop/web"
)

// runsHere lists the runs of this computer that this process may reach, as tuner status does.
func (s *session) runsHere(ctx context.Context) []web.RunHere {
	ctx, cancel := context.WithTimeout(ctx, runsWait)
	defer cancel()
	out := []web.RunHere{}
	for _, r := range local.Standings(ctx, local.List(ctx, s.Env.Places().All(), "")) {
		out = append(out, web.RunHere{Name: cmp.Or(r.Run.Identity.Name, r.Run.ID), Site: r.Run.Identity.Site, Mode: string(r.Run.Identity.Mode), Page: r.Run.Identity.Page,
			Own: r.Run.Identity.PID == os.Getpid(), Status: r.Status, Error: r.Trouble})
	}
	return out
}

// runsWait bounds the wait for all of them: a page does not wait longer.
const runsWait = 8 * time.Second

// archive gives the page the runs of before.
type archive struct{ *session }

// pastMost is how many runs of before are listed, the newest.
const pastMost = 50

// List gives the journals that are known, but those of runs that go on.
func (a archive) List(ctx context.Context) (out []web.PastRun) {
	ctx, cancel := context.WithTimeout(ctx, runsWait)
	defer cancel()
	own := host.Absolute(a.Path)
	going := []string{own}
	for _, r := range local.List(ctx, a.Env.Places().All(), "") {
		if r.Err == nil {
			going = append(going, r.Identity.Journal)
		}
	}
	for _, path := range runfiles.Journals(a.Env, pastMost, filepath.Dir(own)) {
		if ctx.Err() != nil {
			break
		}
		if !slices.Contains(going, path) {
			out = append(out, outcome.Past(path))
		}
	}
	return out
}

// Document reads a run as tuner report does.
func (a archive) Document(ctx context.Context, path string) (d *web.Document, err error) {
	env := *a.Env
	env.Stderr = io.Discard // how far its model is concerns nobody
	r, err := outcome.OpenRecorded(&env, path, "")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	return r.Document(ctx, false)
}
