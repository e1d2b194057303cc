package thiscomputer

import (
	"compress/flate"
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

const (
	// jobSize is the input of one job, in bytes. It is not a multiple of the
	// largest blocks, so that these leave workers idle, as in real life.
	jobSize = 3 << 19
	// stride is how far jobs lie apart in the text, in bytes; a prime number,
	// so that many jobs pass before one begins where another did.
	stride = 700_001
)

// setting is what the knobs say, in the knobs' units.
type setting struct {
	level, block, workers int
}

// compressor runs jobs. It keeps a flate.Writer for each worker, since making
// one costs as much as a small job.
type compressor struct {
	text    []byte
	jobs    int // run so far
	level   int // of writers
	writers []*flate.Writer
}

// prepare makes the writers that a setting needs.
func (c *compressor) prepare(s setting) error {
	if c.level != s.level {
		c.level, c.writers = s.level, nil
	}
	for len(c.writers) < s.workers {
		w, err := flate.NewWriter(nil, s.level)
		if err != nil {
			return err
		}
		c.writers = append(c.writers, w)
	}
	return nil
}

// run compresses the next job's input in blocks and returns the size of the
// output in bytes. prepare must have been called with the same setting.
func (c *compressor) run(ctx context.Context, s setting) (int64, error) {
	start := c.jobs * stride % (len(c.text) - jobSize)
	c.jobs++
	input, block := c.text[start:start+jobSize], s.block<<10

	var next, size atomic.Int64 // offset of the next block; bytes of output
	errs := make([]error, s.workers)
	var workers sync.WaitGroup
	for i := range s.workers {
		workers.Go(func() {
			var out counter
			for ctx.Err() == nil {
				from := int(next.Add(int64(block))) - block
				if from >= jobSize {
					break
				}
				out = 0
				w := c.writers[i]
				w.Reset(&out)
				_, writeErr := w.Write(input[from:min(from+block, jobSize)])
				errs[i] = errors.Join(errs[i], writeErr, w.Close())
				size.Add(int64(out))
			}
		})
	}
	workers.Wait()
	if err := errors.Join(append(errs, ctx.Err())...); err != nil {
		return 0, err
	}
	return size.Load(), nil
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
