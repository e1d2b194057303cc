package port

import (
	"context"
	"errors"
	"time"
)

// Instrument answers what comes over the line.
type Instrument interface {
	// Hear takes bytes as they come and returns what is to be said.
	Hear(ctx context.Context, data []byte) ([]byte, error)
	// Reset forgets what was heard of an unfinished command.
	Reset()
}

// Serve makes the port, a pseudo-terminal with a link to it at path or an address of the
// network, and lets the instrument answer on it until ctx ends.
func Serve(ctx context.Context, path string, in Instrument) (err error) {
	if a, is, err := Network(path); is {
		if err != nil {
			return err
		}
		if err := listen(ctx, a, in); ctx.Err() == nil {
			return err
		}
		return nil
	}
	p, err := OpenPTY()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.unlink(path), p.Close()) }()
	if err := p.Link(path); err != nil {
		return err
	}
	// A deadline in the past ends a Read that waits.
	stop := context.AfterFunc(ctx, func() { p.Master.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	buf := make([]byte, 4096)
	for {
		n, gone, err := p.Read(ctx, buf)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case gone:
			in.Reset()
			continue
		}
		said, err := in.Hear(ctx, buf[:n])
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
		if err := p.Say(said); err != nil && ctx.Err() == nil {
			return err
		}
	}
}
