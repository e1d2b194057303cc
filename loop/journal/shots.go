package journal

import (
	"database/sql"
	"fmt"

	"github.com/labtuner/tuner/loop/journal/store"
)

// Shots gives the shots of a step in the order of their index, none for a step
// that there is not.
func (r *Reader) Shots(step int) ([]Shot, error) {
	shots, err := r.loadShots(step, step)
	return shots[step], err
}

// ShotsAhead gives a function that does the same for who goes through the steps in
// their order, as Steps gives them: it reads as many steps at once as that does. The
// function belongs to one goroutine. Asked for every step of a run it takes a small
// part of the time: see BenchmarkShots.
func (r *Reader) ShotsAhead() func(step int) ([]Shot, error) {
	first := 0
	var ahead map[int][]Shot
	return func(step int) (_ []Shot, err error) {
		// The same pieces as those of Steps: what a piece of steps has, has been recorded
		// when the piece of shots is read.
		if piece := (step-1)/store.Chunk*store.Chunk + 1; piece != first || ahead == nil {
			if ahead, err = r.loadShots(piece, piece+store.Chunk-1); err != nil {
				return r.Shots(step) // the error may be another step's
			}
			first = piece
		}
		return ahead[step], nil
	}
}

func (r *Reader) loadShots(first, last int) (map[int][]Shot, error) {
	l := shotLoader{r: r, where: store.Span{Where: "step BETWEEN ? AND ?", Args: []any{first, last}},
		shots: map[int][]Shot{}, recorded: map[int]int{}}
	if err := r.file.Read(l.load); err != nil {
		return nil, err
	}
	return l.shots, nil
}

// shotLoader puts together the shots of some steps from their tables. Rows come in the
// order of step and index.
type shotLoader struct {
	r        *Reader
	where    store.Span
	shots    map[int][]Shot
	recorded map[int]int // by step: how many the outcome counts
}

func (l *shotLoader) load(tx *sql.Tx) error {
	for _, t := range []struct {
		name string
		add  func(*store.Cells)
	}{
		{"shot", l.addShot}, {"shot_value", l.addValue}, {"shot_reading", l.addReading},
		{"outcome", func(c *store.Cells) { l.recorded[c.Int("step")] = c.Int("recorded") }},
	} {
		if err := l.r.file.Scan(tx, l.where.Of(t.name), t.add); err != nil {
			return err
		}
	}
	return l.check()
}

func (l *shotLoader) addShot(c *store.Cells) {
	step := c.Int("step")
	l.shots[step] = append(l.shots[step], Shot{Step: step, Index: c.Int("n"), Objective: c.Float("objective"), At: stampOf(c)})
}

// shotOf finds the shot that a row belongs to, nil if there is none.
func (l *shotLoader) shotOf(c *store.Cells) *Shot {
	shots, n := l.shots[c.Int("step")], c.Int("shot")
	if n >= 0 && n < len(shots) && shots[n].Index == n { // as a rule
		return &shots[n]
	}
	for i := range shots {
		if shots[i].Index == n {
			return &shots[i]
		}
	}
	return nil
}

func (l *shotLoader) addValue(c *store.Cells) {
	if s := l.shotOf(c); s != nil {
		s.X = append(s.X, c.Float("x"))
	}
}

func (l *shotLoader) addReading(c *store.Cells) {
	if s := l.shotOf(c); s != nil {
		s.Sensors, s.Quality = append(s.Sensors, c.Float("value")), append(s.Quality, c.Text("quality"))
	}
}

// check sees that no row is missing.
func (l *shotLoader) check() error {
	for step, n := range l.recorded {
		if n != len(l.shots[step]) {
			return l.r.file.Corrupt(store.Damage{Table: "shot", Row: fmt.Sprintf("step %d", step),
				Problem: fmt.Sprintf("%d rows are there, there should be %d", len(l.shots[step]), n)})
		}
	}
	for _, shots := range l.shots {
		for _, s := range shots {
			row := fmt.Sprintf("step %d, shot %d", s.Step, s.Index)
			if len(s.X) != len(l.r.run.Variables) {
				return l.r.file.Corrupt(store.Damage{Table: "shot_value", Row: row, Problem: "a row is missing"})
			}
			if len(s.Sensors) != len(l.r.run.Sensors) {
				return l.r.file.Corrupt(store.Damage{Table: "shot_reading", Row: row, Problem: "a row is missing"})
			}
		}
	}
	return nil
}
