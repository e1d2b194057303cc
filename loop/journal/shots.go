package journal

import (
	"database/sql"
	"fmt"
)

// Shots gives the shots of a step in the order of their index, none for a step
// that there is not.
func (r *Reader) Shots(step int) ([]Shot, error) {
	l := shotLoader{r: r, step: step, recorded: -1}
	err := r.read(l.load)
	if err != nil {
		return nil, err
	}
	return l.shots, nil
}

// shotLoader puts together the shots of a step from their tables.
type shotLoader struct {
	r        *Reader
	step     int
	shots    []Shot
	place    map[int]int // of a shot in shots, by its index
	recorded int         // how many the outcome counts, -1 without an outcome
}

func (l *shotLoader) load(tx *sql.Tx) error {
	l.place = map[int]int{}
	where := span{where: "step = ?", args: []any{l.step}}
	for _, t := range []struct {
		name string
		add  func(*cells)
	}{
		{"shot", l.addShot}, {"shot_value", l.addValue}, {"shot_reading", l.addReading},
		{"outcome", func(c *cells) { l.recorded = c.int("recorded") }},
	} {
		if err := l.r.scan(tx, where.of(t.name), t.add); err != nil {
			return err
		}
	}
	return l.check()
}

func (l *shotLoader) addShot(c *cells) {
	l.place[c.int("n")] = len(l.shots)
	l.shots = append(l.shots, Shot{Step: l.step, Index: c.int("n"), Objective: c.float("objective"), At: c.stamp()})
}

func (l *shotLoader) addValue(c *cells) {
	if i, ok := l.place[c.int("shot")]; ok {
		l.shots[i].X = append(l.shots[i].X, c.float("x"))
	}
}

func (l *shotLoader) addReading(c *cells) {
	if i, ok := l.place[c.int("shot")]; ok {
		s := &l.shots[i]
		s.Sensors, s.Quality = append(s.Sensors, c.float("value")), append(s.Quality, c.text("quality"))
	}
}

// check sees that no row is missing.
func (l *shotLoader) check() error {
	if l.recorded >= 0 && l.recorded != len(l.shots) {
		return l.r.corrupt(Damage{Table: "shot", Row: fmt.Sprintf("step %d", l.step),
			Problem: fmt.Sprintf("%d rows are there, there should be %d", len(l.shots), l.recorded)})
	}
	for _, s := range l.shots {
		row := fmt.Sprintf("step %d, shot %d", l.step, s.Index)
		if len(s.X) != len(l.r.run.Variables) {
			return l.r.corrupt(Damage{Table: "shot_value", Row: row, Problem: "a row is missing"})
		}
		if len(s.Sensors) != len(l.r.run.Sensors) {
			return l.r.corrupt(Damage{Table: "shot_reading", Row: row, Problem: "a row is missing"})
		}
	}
	return nil
}
