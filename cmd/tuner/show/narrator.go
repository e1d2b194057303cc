package show

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode"
	"unicode/utf8"
)

// narratorPause is the shortest time between two progress lines: faster than
// the eye follows would only cost terminal bandwidth.
const narratorPause = 100 * time.Millisecond

// narratorWidth is that of a progress line where the terminal does not tell its own.
const narratorWidth = 79

// room is the longest progress line that this terminal does not wrap: one that wraps could not
// be written over. It is asked each time, for windows are resized.
func (n *Narrator) room() int {
	if n.style.Columns != nil {
		if c := n.style.Columns(); c > 1 {
			return c - 1
		}
	}
	return narratorWidth
}

// Narrator tells on stderr what happens. It writes on a goroutine of its own, so
// that a terminal that is stopped never stalls the loop.
type Narrator struct {
	w     io.Writer
	style Style
	lines chan string
	// progress is the latest progress line; bell has a token while it is new.
	progress atomic.Pointer[Progress]
	bell     chan struct{}
	dropped  atomic.Int64
	quit     chan struct{}
	done     chan struct{}
	once     sync.Once
}

func NewNarrator(w io.Writer, s Style) *Narrator {
	n := &Narrator{w: w, style: s, lines: make(chan string, 256), bell: make(chan struct{}, 1),
		quit: make(chan struct{}), done: make(chan struct{})}
	go n.run()
	return n
}

// Say prints a line; it does not block. May be called from any goroutine.
func (n *Narrator) Say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	if n.style.Level == Quiet && priorityOf([]byte(line)) > priorityNotice {
		return
	}
	select {
	case n.lines <- line:
	default:
		n.dropped.Add(1)
	}
}

// Detail prints a line for who has asked for details; it does not block.
func (n *Narrator) Detail(format string, args ...any) {
	if n.Details() {
		n.Say(format, args...)
	}
}

// Details says that details are printed.
func (n *Narrator) Details() bool { return n.style.Level == Verbose }

// Step prints a line that a progress line stands for where there is a terminal. A patient one is
// waited for; it does not block otherwise.
func (n *Narrator) Step(line string, patient bool) {
	switch {
	case n.style.Level == Quiet, n.style.Live && n.style.Level != Verbose:
	case patient:
		select {
		case n.lines <- line:
		case <-n.quit:
		}
	default:
		n.Say("%s", line)
	}
}

// Show replaces the progress line where there is a terminal; it does not block.
func (n *Narrator) Show(p Progress) {
	if !n.Live() {
		return
	}
	n.progress.Store(&p)
	select {
	case n.bell <- struct{}{}:
	default:
	}
}

// Live says that there is a progress line.
func (n *Narrator) Live() bool { return n.style.Live && n.style.Level != Quiet }

// Close prints what is left and removes the progress line. It waits for a
// terminal that is stopped only so long.
func (n *Narrator) Close() {
	n.once.Do(func() {
		close(n.quit)
		select {
		case <-n.done:
		case <-time.After(OutboxPatience):
		}
	})
}

func (n *Narrator) run() {
	defer close(n.done)
	var shown *Progress
	for {
		select {
		case line := <-n.lines:
			n.print(line, shown)
		case <-n.bell:
			shown = n.progress.Load()
			n.draw(shown)
			select {
			case <-time.After(narratorPause):
			case <-n.quit:
			}
		case <-n.quit:
			for len(n.lines) > 0 {
				n.print(<-n.lines, shown)
			}
			if shown != nil {
				n.erase()
			}
			if k := n.dropped.Load(); k > 0 {
				fmt.Fprintf(n.w, "tuner: dropped here, %s: stderr was not read fast enough\n", Count(int(k), "line"))
			}
			return
		}
	}
}

// print writes a line above the progress line.
func (n *Narrator) print(line string, shown *Progress) {
	if shown != nil {
		n.erase()
	}
	line = Printable(line)
	if n.style.Live {
		line = fold(line, n.room())
	}
	if n.style.Color {
		line = paint(line)
	}
	fmt.Fprintln(n.w, line)
	if shown != nil {
		n.draw(shown)
	}
}

// Printable makes one line of what may be foreign text: an instrument must not move the
// cursor of the terminal, nor begin a line that looks like tuner's.
func Printable(line string) string {
	if !strings.ContainsFunc(line, unicode.IsControl) {
		return line
	}
	var b strings.Builder
	for _, r := range line {
		switch {
		case r == '\n':
			b.WriteString("; ")
		case unicode.IsControl(r):
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// draw writes the progress line over the last one.
func (n *Narrator) draw(p *Progress) {
	room := n.room()
	line := p.Fit(room, n.style.Unicode)
	pad := strings.Repeat(" ", room-utf8.RuneCountInString(line))
	if n.style.Color {
		line = faint + line + plain
	}
	fmt.Fprint(n.w, "\r"+line+pad)
}

func (n *Narrator) erase() {
	fmt.Fprint(n.w, "\r"+strings.Repeat(" ", n.room())+"\r")
}

// Style says how narration may look on stderr.
type Style struct {
	// Live allows a line that is written over itself.
	Live bool
	// Color allows escape sequences.
	Color bool
	// Unicode says that block characters are shown.
	Unicode bool
	// Columns asks for the terminal's width, 0: not known; nil: nobody knows.
	Columns func() int
	// Level is how much is told.
	Level Level
}

// Level is how much is told: warnings and errors only, what a person wants to know, or details
// too.
type Level int

// The levels.
const (
	Quiet Level = iota - 1
	Normal
	Verbose
)
