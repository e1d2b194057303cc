package protocol

import "time"

// Timing are the keys of a device that bound its exchanges.
type Timing struct {
	Pause        time.Duration `toml:"pause" bound:">= 0s, <= 1m" doc:"least time from one command to the next, for an instrument that loses what comes sooner"`
	ReplyTimeout time.Duration `toml:"reply_timeout" bound:"> 0s, <= 1h" doc:"longest wait for the first byte of an answer"`
	ReadTimeout  time.Duration `toml:"read_timeout" bound:"> 0s, <= 1m" doc:"longest pause within an answer before it counts as cut off"`
	WriteTimeout time.Duration `toml:"write_timeout" bound:"> 0s, <= 1m" doc:"longest time for a command to leave this computer, before the line counts as stuck"`
	Retries      int           `toml:"retries" bound:">= 0, <= 10" doc:"how often a reading without a good answer is asked for again"`
}
