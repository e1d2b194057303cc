package loop

import (
	"fmt"
	"time"

	"github.com/labtuner/tuner/loop/journal"
)

const (
	// spaceEvery is how often the free space is looked at. Not more often: the disk is
	// asked each time. Not more seldom: at 1 MB/s it is 10 MB.
	spaceEvery = 10 * time.Second
	// spaceWarn times min_free left is worth a line.
	spaceWarn = 2
)

// space is what is known of the disk that the journal lies on.
type space struct {
	asking bool
	asked  time.Time
	free   uint64
	known  bool
	// low says that it was warned of, short that the run is held for it.
	low, short bool
}

// watchSpace asks for the free space now and then.
func (l *Loop) watchSpace(now time.Time) {
	s := &l.space
	if l.deps.Space == nil || l.opt.Outages.MinFree == 0 || s.asking || !s.asked.IsZero() && now.Sub(s.asked) < spaceEvery {
		return
	}
	s.asking, s.asked = true, now
	l.post(laneSpace, func() func() {
		free, err := l.deps.Space()
		return func() {
			s.asking = false
			if err != nil { // what cannot be asked cannot be written either: the record says so
				l.deps.logger().Warn("the free space on the disk is not known", "error", err)
				return
			}
			l.judgeSpace(free)
		}
	})
}

// judgeSpace warns, holds, and lets go on.
func (l *Loop) judgeSpace(free uint64) {
	s, least := &l.space, l.opt.Outages.MinFree
	s.free, s.known = free, true
	switch wasShort, wasLow := s.short, s.low; {
	case free < least && !wasShort:
		s.short, s.low = true, true
		l.event("error", journal.EventDisk, s.words(least)+": the run is held until there is more")
	case free >= least && wasShort:
		s.short = false
		l.event("info", journal.EventDisk, fmt.Sprintf("%s are free on the disk again", megabytes(free)))
	case free < spaceWarn*least && !wasLow:
		s.low = true
		l.event("warn", journal.EventDisk, fmt.Sprintf("%s are free on the disk of the journal; with less than %s the run is held", megabytes(free), megabytes(least)))
	case free >= spaceWarn*least:
		s.low = false
	}
}

func (s *space) words(least uint64) string {
	return fmt.Sprintf("%s are free on the disk of the journal, less than min_free = %s", megabytes(s.free), megabytes(least))
}

// megabytes writes bytes in MB of 10^6.
func megabytes(bytes uint64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) }
