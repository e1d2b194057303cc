package configs

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// This file checks what the tags of a key say of times: ticks, how many of them a time must
// be, as in "3: why; what to do", and doubt, beyond what it looks like a slip, as in
// "> 24h: is longer than a day: why; what to do".

// each visits every key that has a value.
func (c *Config) each(visit func(at string, f schema.Field, v reflect.Value)) {
	schema.Each(c, c.owned, visit)
}

// value gives a key that a package owns, and the zero value where it has none.
func value[T any](c *Config, key string) (out T) {
	section := key[:strings.LastIndexByte(key, '.')]
	for _, o := range c.owned[section] {
		schema.Each(o, nil, func(at string, _ schema.Field, v reflect.Value) {
			if schema.Join(section, at) == key {
				out, _ = v.Interface().(T)
			}
		})
	}
	return out
}

// inTicks refuses times that are shorter than so many ticks.
func (k *checker) inTicks() {
	k.cfg.each(func(at string, f schema.Field, v reflect.Value) {
		count, why, tagged := strings.Cut(f.Tag.Get("ticks"), ": ")
		n, err := strconv.Atoi(count)
		t, is := v.Interface().(time.Duration)
		if least := time.Duration(n) * k.cfg.Tick; err == nil && is && t < least && (t > 0 || k.given(at)) {
			what := fmt.Sprintf("%s is shorter than %s (%s)", schema.FormatDuration(t), ticks(n), schema.FormatDuration(least))
			why, hint, _ := strings.Cut(why, "; ")
			if tagged {
				what += ": " + why
			}
			k.bad(at, what, hint, "tick")
		}
	})
}

// ticks says how many.
func ticks(n int) string {
	switch n {
	case 1:
		return "a tick"
	case 3:
		return "three ticks"
	}
	return strconv.Itoa(n) + " ticks"
}

// doubtful doubts values beyond what is usual.
func (k *doubter) doubtful() {
	k.cfg.each(func(at string, f schema.Field, v reflect.Value) {
		bound, words, _ := strings.Cut(f.Tag.Get("doubt"), ": ")
		if t, is := v.Interface().(time.Duration); is && words != "" && schema.Allows(schema.ParseBounds(bound), t.Seconds()) {
			what, hint, _ := strings.Cut(words, "; ")
			k.bad(at, schema.FormatDuration(t)+" "+what, hint)
		}
	})
}
