package session

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/labtuner/tuner/cmd/tuner/host"
	"github.com/labtuner/tuner/cmd/tuner/show"
	"github.com/labtuner/tuner/loop"
	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/notices"
	"github.com/labtuner/tuner/loop/plan"
)

// noticePatience bounds the wait for the last notice: the run is over, and its service may be
// waited for.
const noticePatience = 10 * time.Second

// heralds tell people of the run, by the ways of [notify]. Its methods but close belong to
// the loop's goroutine; nil tells nobody.
type heralds struct {
	s       *session
	senders []*notices.Sender
	// best is the bound of the best setting so far, known once there is one.
	best      float64
	bestKnown bool
}

// openHeralds makes the ways of [notify] and has the loop tell of its states.
func (s *session) openHeralds(deps *loop.Deps) (*heralds, error) {
	c := s.Setup.Config.Notify
	if c == nil || s.Setup.Options.Mode == plan.Simulate {
		return nil, nil
	}
	h := &heralds{s: s}
	kinds := c.On
	if len(kinds) == 0 {
		kinds = []string{notices.Tripped, notices.Held, notices.Finished}
	}
	add := func(way notices.Way) {
		h.senders = append(h.senders, notices.NewSender(notices.Options{Way: way, Kinds: kinds, Every: c.Every, Tell: s.panel.Tell}))
	}
	address := c.URL
	if place := (host.SecretPlace{File: c.URLFile, Credential: c.URLCredential, Env: c.URLEnv, Base: filepath.Dir(s.Setup.Config.File)}); c.URLFile+c.URLCredential+c.URLEnv != "" {
		var err error
		if address, err = s.Env.Secret(place); err != nil {
			return nil, s.Setup.Refuse("notify", "the URL cannot be had: "+err.Error(), "its first line is the URL")
		}
	}
	if address != "" {
		add(&notices.Webhook{URL: address, Format: c.Format})
	}
	if len(c.Command) > 0 {
		add(&notices.Command{Args: c.Command, Folder: filepath.Dir(host.Absolute(s.Setup.Config.File))})
	}
	before := deps.Watch.Meter.State
	deps.Watch.Meter.State = func(state string, because []control.Cause) {
		if before != nil {
			before(state, because)
		}
		h.state(state, because)
	}
	return h, nil
}

// state tells that the safety layer has gone somewhere.
func (h *heralds) state(state string, because []control.Cause) {
	var why []string
	for _, c := range because {
		why = append(why, c.Text)
	}
	text := state
	if len(why) > 0 {
		text += ": " + strings.Join(why, "; ")
	}
	switch {
	case state != "held":
		h.put(notices.Tripped, text)
	case len(why) > 0: // else a person has paused it
		h.put(notices.Held, text)
	}
}

// look tells of a setting with a better bound than any before.
func (h *heralds) look(p *control.Status) {
	if h == nil || p.Recommended == nil || !p.Recommended.Bound.Known() {
		return
	}
	r, o := p.Recommended, p.Objective
	bound := float64(r.Bound)
	if h.bestKnown && (bound <= h.best) != o.Minimize || h.bestKnown && bound == h.best {
		return
	}
	h.best, h.bestKnown = bound, true
	side := "at least"
	if o.Minimize {
		side = "at most"
	}
	h.put(notices.NewBest, fmt.Sprintf("a better setting: %s %s, %s %s", o.Name, show.Quantity(float64(r.Mean), o.Unit), side, show.Quantity(bound, o.Unit)))
}

// finished tells that the run has ended.
func (h *heralds) finished(words string) {
	if h != nil {
		h.put(notices.Finished, words)
	}
}

func (h *heralds) put(kind, text string) {
	s := h.s
	status := s.panel.Status()
	n := notices.Notice{Event: kind, Text: text, Name: s.run.Name, Site: s.run.Site, Run: s.run.ID, Journal: host.Absolute(s.Path),
		State: status.State, Step: status.Step, At: s.Env.Now().Round(0).UTC()}
	for _, sender := range h.senders {
		sender.Put(n)
	}
}

// close waits for notices that are still to be sent, but not for long.
func (h *heralds) close() {
	if h == nil {
		return
	}
	end := time.Now().Add(noticePatience)
	for _, sender := range h.senders {
		sender.Close(time.Until(end))
	}
}
