package record

import (
	"fmt"
	"time"
)

const (
	// SpaceEvery is how often the free space is looked at. Not more often: the disk is
	// asked each time. Not more seldom: at 1 MB/s it is 10 MB.
	SpaceEvery = 10 * time.Second
	// spaceWarn times MinFree left is worth a line.
	spaceWarn = 2
)

// space is what is known of the free space on the journal's disk.
type space struct {
	asking bool
	asked  time.Time
	bytes  uint64
	known  bool
	// low says that it was warned of, short that the run is held for it.
	low, short bool
}

// free is what the disk has answered.
type free struct {
	bytes uint64
	err   error
}

// askSpace asks for the free space now and then.
func (r *Recorder) askSpace(now time.Time) {
	s := &r.space
	if r.opt.Space == nil || r.opt.MinFree == 0 || s.asking || !s.asked.IsZero() && now.Sub(s.asked) < SpaceEvery {
		return
	}
	s.asking, s.asked = true, now
	r.pool.Post(r.opt.SpaceLane, func() any {
		bytes, err := r.opt.Space()
		return free{bytes, err}
	})
}

// Unknown: the free space cannot be asked for.
type Unknown struct{ Err error }

// follow warns, holds, and lets go on.
func (s *space) follow(f free, least uint64) []any {
	s.asking = false
	if f.err != nil { // what cannot be asked cannot be written either: the record says so
		return []any{Unknown{f.err}}
	}
	s.bytes, s.known = f.bytes, true
	switch wasShort, wasLow := s.short, s.low; {
	case f.bytes < least && !wasShort:
		s.short, s.low = true, true
		return []any{Said{"error", s.text(least) + ": the run is held until there is more"}}
	case f.bytes >= least && wasShort:
		s.short = false
		return []any{Said{"info", fmt.Sprintf("%s are free on the disk again", megabytes(f.bytes))}}
	case f.bytes < spaceWarn*least && !wasLow:
		s.low = true
		return []any{Said{"warn", fmt.Sprintf("%s are free on the disk of the journal; with less than %s the run is held", megabytes(f.bytes), megabytes(least))}}
	case f.bytes >= spaceWarn*least:
		s.low = false
	}
	return nil
}

func (s *space) text(least uint64) string {
	return fmt.Sprintf("%s are free on the disk of the journal, less than min_free = %s", megabytes(s.bytes), megabytes(least))
}

// megabytes writes bytes in MB of 10^6.
func megabytes(bytes uint64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }

// Free is how many bytes are free on the journal's disk, where that is known.
func (r *Recorder) Free() (bytes uint64, known bool) { return r.space.bytes, r.space.known }
