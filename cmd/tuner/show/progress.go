package show

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Progress is how far something has come, in a line that fits any width.
type Progress struct {
	// Head comes first and is always shown; Done of it, 0 to 1, is a bar, NaN none.
	Head string
	Done float64
	// Parts follow, in this order. Where there is no room for all, those of the highest Rank go.
	Parts []Part
}

// Part is one fact of a progress line.
type Part struct {
	Text string
	Rank int
}

// The widths of a bar, in characters. A shorter one shows nothing; a longer one no more.
const (
	shortestBar = 8
	longestBar  = 30
)

// Counted is the progress of the nth of so many.
func Counted(head string, n, of int) Progress {
	return Progress{Head: head, Done: float64(n) / float64(max(of, 1))}
}

// String is the whole line, without a bar.
func (p Progress) String() string { return strings.Join(p.texts(math.MaxInt), ", ") }

// texts are the head and the parts up to a rank.
func (p Progress) texts(rank int) []string {
	texts := []string{p.Head}
	for _, part := range p.Parts {
		if part.Rank <= rank {
			texts = append(texts, part.Text)
		}
	}
	return texts
}

// Fit is the line in at most so many columns, with a bar where there is room.
func (p Progress) Fit(columns int, unicode bool) string {
	rank := 0
	for _, part := range p.Parts {
		rank = max(rank, part.Rank)
	}
	bar := 0
	if !math.IsNaN(p.Done) {
		bar = shortestBar + len(" []")
	}
	for ; rank >= 0; rank-- {
		texts := p.texts(rank)
		rest := strings.Join(texts[1:], ", ")
		if rest != "" {
			rest = "  " + rest
		}
		room := columns - utf8.RuneCountInString(p.Head) - utf8.RuneCountInString(rest)
		switch {
		case room >= bar && bar > 0:
			return p.Head + " " + drawBar(p.Done, min(room-len(" []"), longestBar), unicode) + rest
		case room >= 0 && rank == 0 || room >= 0 && bar == 0:
			return p.Head + rest
		}
	}
	return string([]rune(p.Head)[:max(min(columns, utf8.RuneCountInString(p.Head)), 0)])
}

// drawBar is a bar of so many characters between brackets.
func drawBar(done float64, width int, unicode bool) string {
	full, empty := "#", "."
	if unicode {
		full, empty = "█", "·"
	}
	n := int(math.Round(min(max(done, 0), 1) * float64(width)))
	return "[" + strings.Repeat(full, n) + strings.Repeat(empty, width-n) + "]"
}
