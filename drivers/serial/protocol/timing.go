package protocol

import (
	"fmt"
	"time"
)

// Timing are the keys of a device that bound its exchanges.
type Timing struct {
	Pause        time.Duration `toml:"pause" bound:">= 0s, <= 1m" doc:"least time from one command to the next"`
	ReplyTimeout time.Duration `toml:"reply_timeout" bound:"> 0s, <= 1h" doc:"longest wait for the first byte of an answer"`
	ReadTimeout  time.Duration `toml:"read_timeout" bound:"> 0s, <= 1m" doc:"longest pause within an answer"`
	WriteTimeout time.Duration `toml:"write_timeout" bound:"> 0s, <= 1m" doc:"longest time for a command to leave"`
	Retries      int           `toml:"retries" bound:">= 0, <= 10" doc:"how often a reading without a good answer is asked for again"`
}

// Validate gives every problem at once.
func (o Timing) Validate() (problems []error) {
	if o.Retries < 0 || o.Retries > 10 {
		problems = append(problems, fmt.Errorf("retries is %d and must be 0 to 10", o.Retries))
	}
	for _, t := range []struct {
		key   string
		value time.Duration
	}{{"reply_timeout", o.ReplyTimeout}, {"read_timeout", o.ReadTimeout}, {"write_timeout", o.WriteTimeout}} {
		if t.value <= 0 {
			problems = append(problems, fmt.Errorf("%s is %v and must be above 0s", t.key, t.value))
		}
	}
	if o.Pause < 0 {
		problems = append(problems, fmt.Errorf("pause is %v and cannot be negative", o.Pause))
	}
	return problems
}
