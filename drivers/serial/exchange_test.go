package serial

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/port/porttest"
	"github.com/labtuner/tuner/drivers/serial/text"
)

// meddle changes what an instrument answers to one command, the first so many
// times.
func meddle(f *porttest.Fake, command string, times int, change func(answer []byte) []byte) {
	hear := f.Hear
	f.Hear = func(data []byte) []byte {
		answer := hear(data)
		if times > 0 && bytes.HasSuffix(data, []byte(command+"\n")) {
			times--
			return change(answer)
		}
		return answer
	}
}

// TestBadAnswers: an answer that is not exactly what is described gives no value,
// and is asked for again; the value that comes then is right.
func TestBadAnswers(t *testing.T) {
	for name, change := range map[string]func([]byte) []byte{
		"silence":      func([]byte) []byte { return nil },
		"garbage":      func([]byte) []byte { return []byte("\xff\x00\xfe\n") },
		"cut":          func([]byte) []byte { return []byte("1.0") },
		"extra line":   func(a []byte) []byte { return append(a, "7.000000\n"...) },
		"extra text":   func(a []byte) []byte { return []byte("1.0 V\n") },
		"nan":          func([]byte) []byte { return []byte("NaN\n") },
		"comma":        func([]byte) []byte { return []byte("1,0\n") },
		"hexadecimal":  func([]byte) []byte { return []byte("0x10\n") },
		"overload":     func([]byte) []byte { return []byte("+9.90000000E+37\n") },
		"endless":      func([]byte) []byte { return bytes.Repeat([]byte("1"), 3000) },
		"other answer": func([]byte) []byte { return []byte("OK\n") },
		"empty":        func([]byte) []byte { return []byte("\n") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o, channels := abOptions()
				dev, b, _ := onBench(t, o, channels)
				meddle(b.last(), "A?", 2, change)
				if got := value(t, dev, "a"); got != 1 {
					t.Errorf("a is %v, want 1", got)
				}
				if got := value(t, dev, "b"); got != 2 {
					t.Errorf("then b is %v, want 2", got)
				}
				meddle(b.last(), "A?", 3, change) // more than the retries
				r, err := dev.Read(t.Context(), []string{"a"})
				if len(r.Values) > 0 || !errors.Is(err, drivers.ErrUnavailable) {
					t.Errorf("a bad answer three times: %v, %v", r.Values, err)
				}
				if got := value(t, dev, "b"); got != 2 {
					t.Errorf("at last b is %v, want 2", got)
				}
			})
		})
	}
}

// TestOneBadChannel: the channels that answer have their values.
func TestOneBadChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, _ := onBench(t, o, channels)
		meddle(b.last(), "A?", 1000, func([]byte) []byte { return nil })
		r, err := dev.Read(t.Context(), []string{"a", "b"})
		if _, there := r.Values["a"]; err != nil || there || r.Values["b"] != 2 {
			t.Errorf("%v, %v", r.Values, err)
		}
	})
}

// TestBadChannelIsAskedOnce: a channel that gave nothing last time is asked once in a
// reading, so that the line is free for the others and for a safe value; from its first
// answer on it is asked again as often as before.
func TestBadChannelIsAskedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, _ := onBench(t, o, channels)
		f, asked, silent := b.last(), 0, 1000
		hear := f.Hear
		f.Hear = func(data []byte) []byte {
			answer := hear(data)
			if string(data) != "A?\n" {
				return answer
			}
			if asked++; silent > 0 {
				silent--
				return nil
			}
			return answer
		}
		for _, step := range []struct{ silent, asked, values int }{
			{1000, 1 + o.Retries, 1}, {1000, 1, 1}, {1000, 1, 1}, {0, 1, 2}, {o.Retries, 1 + o.Retries, 2},
		} {
			asked, silent = 0, step.silent
			r, err := dev.Read(t.Context(), []string{"a", "b"})
			if err != nil || asked != step.asked || len(r.Values) != step.values {
				t.Errorf("silent %d times: asked %d times, %v, %v; want %d times and %d values", step.silent, asked, r.Values, err, step.asked, step.values)
			}
		}
	})
}

// TestLateAnswer: an answer that comes after its question was given up is never
// taken for the answer to a later one.
func TestLateAnswer(t *testing.T) {
	for _, late := range []time.Duration{900 * time.Millisecond, 1010 * time.Millisecond, 1090 * time.Millisecond,
		1105 * time.Millisecond, 1200 * time.Millisecond, 1900 * time.Millisecond, 2500 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			o, channels := abOptions()
			o.Retries = 0
			dev, b, _ := onBench(t, o, channels)
			f := b.last()
			// An instrument answers in order, 20 ms for each: what comes behind the slow
			// answer waits.
			hear, free := f.Hear, time.Now()
			slow := true
			f.Hear = func(data []byte) []byte {
				answer := hear(data)
				if free = latest(free, time.Now()).Add(20 * time.Millisecond); slow && string(data) == "A?\n" {
					slow, free = false, time.Now().Add(late)
				}
				if len(answer) > 0 {
					time.AfterFunc(time.Until(free), func() { f.Say(answer) })
				}
				return nil
			}
			for range 12 {
				r, err := dev.Read(t.Context(), []string{"a", "b"})
				if a, there := r.Values["a"]; there && a != 1 {
					t.Errorf("late by %v: a is %v, %v", late, a, err)
				}
				if v, there := r.Values["b"]; there && v != 2 {
					t.Errorf("late by %v: b is %v, %v", late, v, err)
				}
				time.Sleep(dev.Wait())
			}
			if got := value(t, dev, "b"); got != 2 {
				t.Errorf("late by %v: at last b is %v", late, got)
			}
		})
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// TestStaleInput: what came before a question is no answer to it, even where the
// answer takes its time.
func TestStaleInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, _ := onBench(t, o, channels)
		f := b.last()
		hear := f.Hear
		f.Hear = func(data []byte) []byte {
			answer := hear(data)
			time.AfterFunc(30*time.Millisecond, func() { f.Say(answer) })
			return nil
		}
		for _, stale := range []string{"9.500000\n", "9.5", "OK\n\n"} {
			f.Say([]byte(stale))
			if got := value(t, dev, "a"); got != 1 {
				t.Errorf("after %q: a is %v", stale, got)
			}
		}
	})
}

// TestLostAck: a write whose answer was lost is not sent again, unless its channel
// declares that it may be.
func TestLostAck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, c := onBench(t, o, channels)
		silence := func([]byte) []byte { return nil }
		meddle(b.last(), "A 3.000", 1, silence)
		if err := set(dev, "a", 3); !errors.Is(err, drivers.ErrUnavailable) || !strings.Contains(err.Error(), "whether the command was carried out is not known") {
			t.Errorf("write of a: %v", err)
		}
		meddle(b.last(), "B 4.000", 1, silence)
		if err := set(dev, "b", 4); err != nil {
			t.Errorf("write of b, which is idempotent: %v", err)
		}
		if a, b := c.written("a"), c.written("b"); !slices.Equal(a, []float64{3}) || !slices.Equal(b, []float64{4, 4}) {
			t.Errorf("a was written %v, b %v", a, b)
		}
	})
}

// TestRefusedWrite: an answer that is another than ack is a refusal, with its text.
func TestRefusedWrite(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, _ := onBench(t, o, channels)
		meddle(b.last(), "A 3.000", 1, func([]byte) []byte { return []byte("E07 axis locked\n") })
		if err := set(dev, "a", 3); !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "E07 axis locked") {
			t.Errorf("write: %v", err)
		}
		if err := set(dev, "a", 3); err != nil {
			t.Errorf("the next write: %v", err)
		}
	})
}

// TestVerify: a write with verify tells what the instrument then says, and fails
// where that is another value.
func TestVerify(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		channels[0].Write = &Write{WriteKeys: text.WriteKeys{Out: "A %.3f", Verify: &text.Verify{Out: "AV?", In: "A=%f", Tolerance: 0.01}}}
		dev, b, _ := onBench(t, o, channels)
		r, err := dev.Write(t.Context(), drivers.Setpoints{Values: map[string]float64{"a": 3}})
		if err != nil || r.Values["a"] != 3 {
			t.Errorf("%v, %v", r.Values, err)
		}
		meddle(b.last(), "AV?", 1, func([]byte) []byte { return []byte("A=2.5\n") })
		if err := set(dev, "a", 4); !errors.Is(err, drivers.ErrRefused) || !strings.Contains(err.Error(), "then says 2.5") {
			t.Errorf("a value that was not taken: %v", err)
		}
	})
}

// TestShareAQuestion: channels with one question have their values from one answer.
func TestShareAQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, _ := abOptions()
		channels := []ChannelOptions{
			{Channel: "a", Read: &Read{ReadKeys: text.ReadKeys{Out: "ALL?", In: "%f;%*f;%*f"}}},
			{Channel: "s", Read: &Read{ReadKeys: text.ReadKeys{Out: "ALL?", In: "%*f;%*f;%f"}}},
			{Channel: "b", Read: &Read{ReadKeys: text.ReadKeys{Out: "ALL?", In: "%*f;%f;%*f"}}, ScaleKeys: drivers.ScaleKeys{Scale: ptr(10.0), Offset: 5}},
		}
		dev, b, _ := onBench(t, o, channels)
		questions := 0
		meddle(b.last(), "ALL?", 1000, func(answer []byte) []byte {
			questions++
			if want := "1.000000;-0.300000;"; !strings.HasPrefix(string(answer), want) {
				t.Errorf("the instrument says %q, want %q...", answer, want)
			}
			return answer
		})
		r, err := dev.Read(t.Context(), []string{"a", "b", "s"})
		if err != nil || r.Values["a"] != 1 || r.Values["b"] != 2 || r.Values["s"] == 0 || questions != 1 {
			t.Errorf("%v, %v, %d questions", r.Values, err, questions)
		}
	})
}

// TestNothingNew: none is an answer, and no value.
func TestNothingNew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		channels[0].Read.None = "NO DATA"
		dev, b, _ := onBench(t, o, channels)
		meddle(b.last(), "A?", 1, func([]byte) []byte { return []byte("NO DATA\n") })
		if r, err := dev.Read(t.Context(), []string{"a"}); err != nil || len(r.Values) > 0 {
			t.Errorf("%v, %v", r.Values, err)
		}
		if got := value(t, dev, "a"); got != 1 {
			t.Errorf("a is %v", got)
		}
	})
}

// TestWithoutTerminator: the answers of an instrument that sends none end with a
// pause.
func TestWithoutTerminator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		o.InTerminator = ptr("")
		dev, _, _ := onBench(t, o, channels)
		if got := value(t, dev, "b"); got != 2 {
			t.Errorf("b is %v", got)
		}
	})
}

// TestLimitsAfterRounding: what is sent lies within the limits, not only what was
// asked for.
func TestLimitsAfterRounding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		channels[0].Max, channels[0].Write.Out = ptr(2.46), "A %.2f"
		dev, _, c := onBench(t, o, channels)
		if err := set(dev, "a", 2.4599); err != nil {
			t.Errorf("2.4599 is sent as 2.46: %v", err)
		}
		channels[0].Write.Out, channels[0].Safe, channels[0].Max = "A %.1f", nil, ptr(2.46)
		if _, err := New(o, channels, drivers.Env{Clock: wall{}}); err == nil || !strings.Contains(err.Error(), `would be sent as "A 2.5"`) {
			t.Errorf("a limit that cannot be sent: %v", err)
		}
		if got := c.written("a"); !slices.Equal(got, []float64{2.46}) {
			t.Errorf("written %v", got)
		}
	})
}

// TestCancelled: a call that is called off leaves no answer for the next.
func TestCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		dev, b, _ := onBench(t, o, channels)
		f := b.last()
		hear := f.Hear
		f.Hear = func(data []byte) []byte {
			answer := hear(data)
			time.AfterFunc(100*time.Millisecond, func() { f.Say(answer) })
			return nil
		}
		ctx, cancel := context.WithTimeout(t.Context(), 52*time.Millisecond)
		defer cancel()
		if _, err := dev.Read(ctx, []string{"a"}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("called off: %v", err)
		}
		if got := value(t, dev, "b"); got != 2 {
			t.Errorf("b is %v", got)
		}
	})
}

// TestEndlessTalk: what talks without end is given up in seconds, at the defaults too: whoever ends a run waits for it. When it
// is quiet again its values are taken.
func TestEndlessTalk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, channels := abOptions()
		o.ReplyTimeout = Default().ReplyTimeout
		dev, b, _ := onBench(t, o, channels)
		ctx, quiet := context.WithCancel(t.Context())
		talk := func(f *porttest.Fake) {
			for ctx.Err() == nil {
				f.Say([]byte("7777.7\n"))
				time.Sleep(10 * time.Millisecond)
			}
		}
		go talk(b.last())
		time.Sleep(time.Second)
		began := time.Now()
		r, err := dev.Read(t.Context(), []string{"a"})
		if took := time.Since(began); len(r.Values) > 0 || err == nil || !strings.Contains(err.Error(), "talks without being asked") || took > 20*time.Second {
			t.Errorf("%v, %v after %v", r.Values, err, took)
		}
		quiet()
		time.Sleep(time.Minute)
		if got := value(t, dev, "a"); got != 1 {
			t.Errorf("a is %v", got)
		}
	})
}
