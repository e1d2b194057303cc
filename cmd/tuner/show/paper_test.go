package show

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPaperFoldsBetweenWords(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"short", "short"},
		{"one two three four five six seven", "one two three four five\n  six seven"},
		{"  actuator mirror_x: left as it is", "  actuator mirror_x: left\n    as it is"},
		// A column of a table keeps its gaps as long as it fits.
		{"name      value   unit  what it is", "name      value   unit\n  what it is"},
		// A command is copied: it stays whole, however long.
		{"to measure it again: tuner try laser mirror_x=1.25,grating=12", "to measure it again:\n  tuner try laser mirror_x=1.25,grating=12"},
		{"  tuner try laser mirror_x=1.25,grating=12", "  tuner try laser mirror_x=1.25,grating=12"},
		{"µµµµµµ µµµµµµ µµµµµµ µµµ µµ", "µµµµµµ µµµµµµ µµµµµµ µµµ\n  µµ"},
		{"", ""},
	} {
		if got := fold(c.line, 25); got != c.want {
			t.Errorf("%q:\n%s\nwant\n%s", c.line, got, c.want)
		}
		if got := fold(c.line, 0); got != c.line {
			t.Errorf("no width: %q", got)
		}
	}
}

// TestPaperKeepsEveryWord: whatever the width, no word is lost or changed, and only a word that
// is too long by itself is beyond the edge.
func TestPaperKeepsEveryWord(t *testing.T) {
	text := "verified: the recommended setting is better than the starting one by 2.859 mJ, counting 0.5 times the variance of a shot\n  it took 16 steps\nno line feed"
	for columns := range 100 {
		var out bytes.Buffer
		p := NewPaper(&out, Style{Live: true, Columns: func() int { return columns }})
		for i := 0; i < len(text); i += 7 { // in pieces
			if _, err := p.Write([]byte(text[i:min(i+7, len(text))])); err != nil {
				t.Fatal(err)
			}
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(strings.Fields(out.String()), " "); got != strings.Join(strings.Fields(text), " ") {
			t.Fatalf("%d columns: %q", columns, out.String())
		}
		for line := range strings.Lines(out.String()) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); columns >= narrowest && n > columns {
				t.Errorf("%d columns: %q has %d", columns, line, n)
			}
		}
	}
}

// TestPaperColours: what was verified, a warning and an error have their colour, and nothing has
// one where none is wanted.
func TestPaperColours(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"verified: better", "\x1b[32mverified:\x1b[0m better"},
		{"tuner: warning: late", "\x1b[33mtuner: warning:\x1b[0m late"},
		{"tuner: error: gone", "\x1b[31mtuner: error:\x1b[0m gone"},
		{"actuator x: NOT CONFIRMED (hold)", "actuator x: \x1b[31mNOT CONFIRMED\x1b[0m (hold)"},
		{"not verified: no", "not verified: no"},
	} {
		for _, color := range []bool{false, true} {
			var out bytes.Buffer
			p := NewPaper(&out, Style{Color: color})
			if _, err := p.Write([]byte(c.line + "\n")); err != nil {
				t.Fatal(err)
			}
			want := c.line
			if color {
				want = c.want
			}
			if out.String() != want+"\n" {
				t.Errorf("color %v: %q, want %q", color, out.String(), want)
			}
		}
	}
}
