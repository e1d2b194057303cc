package export

import (
	"math"
	"strconv"
	"time"
)

// kind is what the cells of a column hold.
type kind int

// The kinds of columns. Beside whole and truth, a cell may hold no data.
const (
	aNumber kind = iota
	aWhole
	aTruth
	aText
	anInstant
)

// column is a column of a table: what it is and how to fill it.
type column[T any] struct {
	name, unit, meaning string
	value               func(T) cell
}

// kind is that of its cells, whatever the record.
func (c column[T]) kind() kind {
	var none T
	return c.value(none).kind
}

// cell is a value of a table.
type cell struct {
	kind   kind
	number float64
	whole  int
	words  string
	at     time.Time
}

func number(x float64) cell { return cell{kind: aNumber, number: x} }
func whole(n int) cell      { return cell{kind: aWhole, whole: n} }
func text(s string) cell    { return cell{kind: aText, words: s} }

func truth(b bool) cell {
	c := cell{kind: aTruth}
	if b {
		c.whole = 1
	}
	return c
}

// instant is a time, as the layout writes it in a text; none where it is zero.
func instant(at time.Time, layout string) cell {
	return cell{kind: anInstant, at: at, words: layout}
}

// empty says that there is no data.
func (c cell) empty() bool {
	switch c.kind {
	case aNumber:
		return math.IsNaN(c.number)
	case aText:
		return c.words == ""
	case anInstant:
		return c.at.IsZero()
	}
	return false
}

// text is the cell in a table of texts, "" where there is no data.
func (c cell) text() string {
	switch {
	case c.empty():
		return ""
	case c.kind == aNumber:
		return decimal(c.number)
	case c.kind == aWhole:
		return strconv.Itoa(c.whole)
	case c.kind == aTruth:
		return strconv.FormatBool(c.whole == 1)
	case c.kind == anInstant:
		return c.at.UTC().Format(c.words)
	}
	return c.words
}

// at gives element i, NaN where a step has none.
func at(x []float64, i int) float64 {
	if i >= len(x) {
		return math.NaN()
	}
	return x[i]
}
