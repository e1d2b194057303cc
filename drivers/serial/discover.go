package serial

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/exec/wire"
	"github.com/labtuner/tuner/drivers/serial/port"
	"github.com/labtuner/tuner/drivers/serial/protocol"
	"github.com/labtuner/tuner/drivers/serial/text"
)

const (
	// standardQuestion asks an instrument what it is, and changes nothing (IEEE 488.2). What speaks
	// another language takes it for a command that there is not.
	standardQuestion, standardEnd = "*IDN?", "\r\n"
	// askedTimes is how often a question is put: the first may end what another speed has left in
	// the instrument as half a line.
	askedTimes = 2
	// discoverWait is how long the first byte of an answer may take, discoverQuiet what ends one.
	discoverWait, discoverQuiet = 1500 * time.Millisecond, 150 * time.Millisecond
	// discoverMost bounds an answer in bytes, discoverTalk in time.
	discoverMost, discoverTalk = 512, time.Second
)

// discover asks what is on a port: by the standard question first, at each speed of a profile; by a
// profile's own where that is a question too, or where the answer was its protocol's. Nothing else is sent, no
// greeting among it, so that nothing is set. A port that nobody named is listed, and stays closed: opening it
// raises its modem lines, which resets some instruments.
func discover(ctx context.Context, at string, env drivers.Env) (all []drivers.Discovered, err error) {
	if at == "" {
		ports, err := port.List()
		for _, p := range ports {
			all = append(all, drivers.Discovered{Name: "serial", Says: fmt.Sprintf("a serial port, %s, which was not opened: name it, with --device serial=%s", p.Path, p.Path)})
		}
		return all, err
	}
	f := finder{at: at, open: port.Open, env: env}
	return f.find(ctx)
}

// finder looks what is at one port.
type finder struct {
	at    string
	open  port.Opener
	env   drivers.Env
	tried []string // in words
}

// candidate is a profile that identifies its instrument.
type candidate struct {
	name     string
	options  Options
	channels []ChannelOptions
	match    *regexp.Regexp
}

// candidates are those of all profiles, with the settings of the line that they need, the usual ones first.
func (f *finder) candidates() (all []candidate, lines []port.Settings, err error) {
	_, network, err := port.Network(f.at)
	if err != nil {
		return nil, nil, err
	}
	lines = []port.Settings{Default().Settings}
	for _, name := range profileNames() {
		o, channels, err := fromProfile(name)
		if err != nil || o.Identify == nil {
			continue
		}
		match, err := regexp.Compile(o.Identify.Match)
		if err != nil {
			return nil, nil, err
		}
		if network { // the other side sets the line
			o.Settings = lines[0]
		}
		if !slices.Contains(lines, o.Settings) {
			lines = append(lines, o.Settings)
		}
		all = append(all, candidate{name, o.filled(), channels, match})
	}
	return all, lines, nil
}

// find opens the port with each setting of the line in turn, until something identifies itself.
func (f *finder) find(ctx context.Context) ([]drivers.Discovered, error) {
	all, lines, err := f.candidates()
	if err != nil {
		return nil, err
	}
	for _, line := range lines {
		found, err := f.ask(ctx, all, line)
		switch {
		case found != nil:
			return []drivers.Discovered{*found}, nil
		case ctx.Err() != nil:
			return nil, fmt.Errorf("the time is over, and nothing at %s has said what it is: %s", f.at, strings.Join(f.tried, "; "))
		case err != nil:
			return nil, err
		}
	}
	return nil, fmt.Errorf("nothing at %s says what it is: %s. Describe it: a [[device]] with identify, as drivers/serial/README.md has it", f.at, strings.Join(f.tried, "; "))
}

// ask puts the questions at one setting of the line.
func (f *finder) ask(ctx context.Context, all []candidate, line port.Settings) (*drivers.Discovered, error) {
	raw, err := f.open(ctx, line.Spec(f.at, discoverWait, discoverQuiet))
	if err != nil {
		return nil, err
	}
	to := &protocol.Line{Port: port.New(raw), Timing: Default().Timing, Log: slog.New(slog.DiscardHandler), Most: discoverMost}
	defer func() { _ = to.Port.Close(to.WriteTimeout) }() // nothing is lost with it
	boot := time.Duration(0)
	for _, c := range all {
		if c.options.Settings == line {
			boot = max(boot, c.options.OpenDelay)
		}
	}
	if err := port.Pause(ctx, boot); err != nil {
		return nil, err
	}
	q := inquiry{line: to, at: fmt.Sprintf("%d baud", line.Baud)}
	said, err := q.put(ctx, standardQuestion, standardEnd)
	if err == nil && said != nil {
		for _, c := range all {
			if c.options.Identify.Out == standardQuestion && len(said.lines) == 1 && c.match.MatchString(said.lines[0]) {
				return f.found(c, line, *said)
			}
		}
	}
	for _, c := range all {
		if err != nil || q.noise || c.options.Settings != line || c.options.Identify.Out == standardQuestion {
			continue
		}
		known := c.options.coded() && said != nil && slices.Contains(said.lines, text.CodedRefusal)
		if !known && !strings.HasSuffix(c.options.Identify.Out, "?") {
			continue // a command, to whatever else may be there
		}
		var own *answer
		if own, err = q.put(ctx, c.options.Identify.Out, *c.options.OutTerminator); own != nil && slices.ContainsFunc(own.lines, c.match.MatchString) {
			return f.found(c, line, answer{end: *c.options.InTerminator})
		}
	}
	f.tried = append(f.tried, q.tried...)
	return nil, err
}

// found is an instrument of a profile, with the keys that differ from it.
func (f *finder) found(c candidate, line port.Settings, said answer) (*drivers.Discovered, error) {
	env := f.env
	env.ReadOnly = true
	o := c.options
	o.Port = f.at
	d, err := New(o, c.channels, env)
	if err != nil {
		return nil, err
	}
	found := &drivers.Discovered{Name: "instrument", Says: fmt.Sprintf("an instrument of the profile %s at %s", c.name, f.at), Keys: []string{fmt.Sprintf("port = %q", f.at), fmt.Sprintf("profile = %q", c.name)}}
	if len(said.lines) > 0 {
		found.Says += ": " + drivers.Printable(said.lines[0])
	}
	if c.options.Baud != line.Baud {
		found.Keys = append(found.Keys, fmt.Sprintf("baud = %d", line.Baud))
	}
	if said.end != *c.options.InTerminator {
		found.Keys = append(found.Keys, "terminator = "+strconv.Quote(said.end))
	}
	for _, ch := range d.channels {
		found.Channels = append(found.Channels, drivers.DiscoveredChannel{Channel: ch.Channel})
	}
	return found, nil
}

// inquiry puts questions over one open port.
type inquiry struct {
	line  *protocol.Line
	at    string
	noise bool // it talks without being asked
	tried []string
}

// answer is what came: its lines, and what they end with.
type answer struct {
	lines []string
	end   string
}

// put asks, and once more where no whole line has come; nil: nothing has.
func (q *inquiry) put(ctx context.Context, question, end string) (said *answer, err error) {
	for range askedTimes {
		if _, loud, err := q.listen(ctx, discoverQuiet); err != nil || loud {
			if loud {
				q.noise = true
				q.tried = append(q.tried, "at "+q.at+" it talks without being asked")
			}
			return nil, err
		}
		if err := q.line.Put(question + end); err != nil {
			return nil, err
		}
		got, _, err := q.listen(ctx, discoverWait)
		if err != nil {
			return nil, err
		}
		if a := linesOf(got); a != nil {
			said = a
			if len(a.lines) == 1 && a.lines[0] != text.CodedRefusal {
				break
			}
		}
	}
	answered := "silence"
	if said != nil {
		answered = wire.Quote([]byte(strings.Join(said.lines, said.end)))
	}
	q.tried = append(q.tried, fmt.Sprintf("%s at %s: %s", question, q.at, answered))
	return said, nil
}

// listen gives what comes, the first of it within wait; loud: it has not ended in a second.
func (q *inquiry) listen(ctx context.Context, wait time.Duration) (got []byte, loud bool, err error) {
	chunk := make([]byte, discoverMost)
	end := time.Now().Add(wait + discoverTalk)
	for {
		n, err := q.line.Port.Read(ctx, chunk, time.Now().Add(wait))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return got, false, nil
		}
		if err != nil {
			return nil, false, err
		}
		got = append(got, chunk[:min(n, discoverMost-len(got))]...)
		if time.Now().After(end) {
			return got, true, nil
		}
		wait = discoverQuiet
	}
}

// linesOf parts what came into lines; nil where none is whole.
func linesOf(got []byte) *answer {
	all := string(got)
	for _, end := range []string{"\r\n", "\n", "\r"} {
		if rest, whole := strings.CutSuffix(all, end); whole {
			return &answer{lines: strings.FieldsFunc(rest, func(r rune) bool { return r == '\r' || r == '\n' }), end: end}
		}
	}
	return nil
}
