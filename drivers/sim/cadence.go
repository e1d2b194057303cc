package sim

import "time"

// cadence says when shots come: pulses at the laser's rate, or one at the end of each
// batch.
type cadence struct {
	batch time.Duration // 0: shots are pulses
	// base is the number of the shot before the batch that began at start.
	base  uint64
	start time.Duration
	// captured is the number of the last shot that has been looked at.
	captured uint64
}

// batchTurnaround is the share of a batch, one in so many, for which the
// environment of the batch before stay.
const batchTurnaround = 10

// by returns the number of the last shot at or before t.
func (c *cadence) by(t time.Duration) uint64 {
	if c.batch == 0 {
		return uint64(t / laserPulse)
	}
	return c.base + uint64((t-c.start)/c.batch)
}

// at returns when shot n comes or came; for batches, n > base.
func (c *cadence) at(n uint64) time.Duration {
	if c.batch == 0 {
		return time.Duration(n) * laserPulse
	}
	return c.start + time.Duration(n-c.base)*c.batch
}

// restart begins a new batch now. The one that it cuts short never yields a
// value, and its number is not used again.
func (c *cadence) restart(now time.Duration) {
	if c.batch == 0 {
		return
	}
	c.base = c.by(now) + 1
	c.captured = c.base
	c.start = now
}

// draw returns the number of the environment's draw that is in force at t. A
// laser's environment changes once a second. In a plant of batches they change at
// once when a batch begins by a write; between one batch and the next, the old
// ones stay for a while, so that who reads the value late still finds the
// conditions that it belongs to.
func (c *cadence) draw(t time.Duration) uint64 {
	if c.batch == 0 {
		return uint64((t + laserEarly) / laserDraw)
	}
	elapsed := t - c.start
	n := c.base + uint64(elapsed/c.batch) + 1
	if elapsed >= c.batch && elapsed%c.batch < c.batch/batchTurnaround {
		n--
	}
	return n
}
