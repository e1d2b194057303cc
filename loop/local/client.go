package local

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/labtuner/tuner/loop/web"
)

const (
	// answerMax bounds an answer, in bytes.
	answerMax = 16 << 20
	// findWait bounds the wait for one run to say which it is: it does so from memory.
	findWait = 2 * time.Second
)

// Run is a run of this computer.
type Run struct {
	// ID is its name among all of them, Socket where it is reached.
	ID, Socket string
	// Identity is what it says of itself.
	Identity web.Identity
	// Err is why it says nothing: the socket lets other users in, or it does not answer.
	Err error
}

// List finds the runs in folders whose name is name, "" for all of them. A socket without a
// listener is left out.
func List(ctx context.Context, folders []string, name string) (out []Run) {
	for _, folder := range folders {
		list, err := os.ReadDir(folder)
		if err != nil { // it is another user's, or not there
			continue
		}
		for _, entry := range list {
			id, isSocket := strings.CutSuffix(entry.Name(), suffix)
			path := filepath.Join(folder, entry.Name())
			if !isSocket || name != "" && !strings.HasPrefix(id, prefix(name)) && id != name ||
				slices.ContainsFunc(out, func(r Run) bool { return r.Socket == path }) {
				continue
			}
			out = append(out, Run{ID: id, Socket: path})
		}
	}
	var all sync.WaitGroup
	for i := range out {
		all.Go(func() { out[i].identify(ctx) })
	}
	all.Wait()
	return slices.DeleteFunc(out, func(r Run) bool {
		return errors.Is(r.Err, unix.ECONNREFUSED) || errors.Is(r.Err, unix.ENOENT)
	})
}

// identify asks a run who it is.
func (r *Run) identify(ctx context.Context) {
	short, cancel := context.WithTimeout(ctx, findWait)
	defer cancel()
	r.Err = r.call(short, http.MethodGet, "/api/run", nil, &r.Identity)
}

// Denied reports whether a run's socket does not let this user in.
func (r *Run) Denied() bool { return errors.Is(r.Err, unix.EACCES) || errors.Is(r.Err, unix.EPERM) }

// Status is the run's status, a loop.Status as JSON.
func (r *Run) Status(ctx context.Context) (text json.RawMessage, err error) {
	err = r.call(ctx, http.MethodGet, "/api/status", nil, &text)
	return text, err
}

// statusWait is how long one run is waited for: one that hangs is told as such, and keeps no other
// from being shown.
const statusWait = 5 * time.Second

// Standing is a run with how it stands.
type Standing struct {
	Run *Run
	// Status is as Run.Status gives it; Trouble says why there is none, "" where there is.
	Status  json.RawMessage
	Trouble string
}

// Standings asks all runs how they stand, side by side.
func Standings(ctx context.Context, runs []Run) []Standing {
	out := make([]Standing, len(runs))
	var all sync.WaitGroup
	for i := range runs {
		all.Go(func() { out[i] = runs[i].standing(ctx) })
	}
	all.Wait()
	return out
}

// standing asks one.
func (r *Run) standing(ctx context.Context) Standing {
	s, err := Standing{Run: r}, r.Err
	if err == nil {
		ctx, cancel := context.WithTimeout(ctx, statusWait)
		defer cancel()
		s.Status, err = r.Status(ctx)
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		s.Trouble = "does not answer: look whether its process stands still"
	case err != nil:
		s.Trouble = err.Error()
	}
	return s
}

// Command has the run carry out a command; the answer also says why it was refused.
func (r *Run) Command(ctx context.Context, name string, o web.Order) (a web.Answer, err error) {
	err = r.call(ctx, http.MethodPost, "/api/command/"+name, o, &a)
	return a, err
}

// call makes a request and decodes its answer.
func (r *Run) call(ctx context.Context, method, path string, body, into any) (err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	q, err := http.NewRequestWithContext(ctx, method, "http://localhost"+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx, r.Socket) }}}
	answer, err := client.Do(q)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Socket, err)
	}
	defer func() { err = errors.Join(err, answer.Body.Close()) }()
	text, err = io.ReadAll(io.LimitReader(answer.Body, answerMax))
	if err != nil {
		return fmt.Errorf("%s: %w", r.Socket, err)
	}
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusConflict {
		return fmt.Errorf("%s: %s: %s", r.Socket, answer.Status, bytes.TrimSpace(text))
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", r.Socket, err)
	}
	return nil
}
