package journal

import (
	"database/sql"
	"fmt"
	"strconv"

	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// loadRun reads the run and sees that none of its rows is missing.
func (r *Reader) loadRun(tx *sql.Tx) (Run, error) {
	l := runLoader{r: r, run: Run{Decisions: schema.OlderDecisions}, rows: map[string]int{}, want: map[string]int{"run": 1, "session": 1, "config": 1}}
	for _, s := range []struct {
		store.Span
		add func(*store.Cells)
	}{
		{store.Span{Table: "run"}, l.addRun},
		{store.Span{Table: "session", Where: "n = 1"}, l.addSession},
		{store.Span{Table: "session_decisions", Where: "session = 1"}, l.addDecisions},
		{store.Span{Table: "config", Where: "session = 1"}, l.addConfig},
		{store.Span{Table: "setting", Where: "session = 1"}, l.addSetting},
		{store.Span{Table: "variable"}, l.addVariable},
		{store.Span{Table: "sensor"}, l.addSensor},
		{store.Span{Table: "control_set"}, l.addControlSet},
		{store.Span{Table: "control_set_variable"}, l.addControlSetVariable},
	} {
		err := r.file.Scan(tx, s.Span, func(c *store.Cells) {
			l.rows[s.Table]++
			s.add(c)
		})
		if err != nil {
			return Run{}, err
		}
	}
	for _, table := range []string{"run", "session", "config", "setting", "variable", "sensor", "control_set", "control_set_variable"} {
		if l.rows[table] != l.want[table] {
			return Run{}, r.file.Corrupt(store.Damage{Table: table,
				Problem: fmt.Sprintf("%d rows are there, there should be %d", l.rows[table], l.want[table])})
		}
	}
	return l.run, l.err
}

// runLoader puts together a run from its tables.
type runLoader struct {
	r          *Reader
	run        Run
	rows, want map[string]int // by table
	err        error
}

func (l *runLoader) addRun(c *store.Cells) {
	l.run.ID, l.run.Name, l.run.Site = c.Text("uid"), c.Text("name"), c.Text("site")
	l.run.Mode, l.run.Policy = c.Text("mode"), c.Text("policy")
	seed, err := strconv.ParseUint(c.Text("seed"), 10, 64)
	if err != nil {
		l.err = l.r.file.Corrupt(store.Damage{Table: "run", Row: c.Name(), Problem: err.Error()})
	}
	l.run.Seed = seed
	l.run.Objective = Column{Name: c.Text("objective"), Unit: c.Text("objective_unit")}
	l.run.Minimize, l.run.CostUnit = c.Flag("minimize"), c.Text("cost_unit")
	l.want["variable"], l.want["sensor"], l.want["control_set"] = c.Int("variables"), c.Int("sensors"), c.Int("control_sets")
}

func (l *runLoader) addSession(c *store.Cells) {
	l.run.Version, l.run.BootID, l.run.Start = c.Text("version"), c.Text("boot_id"), stampOf(c)
}

func (l *runLoader) addDecisions(c *store.Cells) { l.run.Decisions = c.Int("decisions") }

func (l *runLoader) addConfig(c *store.Cells) {
	l.run.ConfigFile, l.run.ConfigText = c.Text("file"), c.Blob("text")
	l.want["setting"] = c.Int("settings")
}

func (l *runLoader) addSetting(c *store.Cells) {
	l.run.Effective = append(l.run.Effective, Setting{Key: c.Text("key"), Value: c.Text("value"), Origin: c.Text("origin")})
}

func (l *runLoader) addVariable(c *store.Cells) {
	l.run.Variables = append(l.run.Variables, Column{Name: c.Text("name"), Unit: c.Text("unit")})
}

func (l *runLoader) addSensor(c *store.Cells) {
	l.run.Sensors = append(l.run.Sensors, Column{Name: c.Text("name"), Unit: c.Text("unit")})
}

func (l *runLoader) addControlSet(c *store.Cells) {
	l.run.ControlSets = append(l.run.ControlSets, ControlSet{Cost: c.Float("cost")})
	l.want["control_set_variable"] += c.Int("variables")
}

func (l *runLoader) addControlSetVariable(c *store.Cells) {
	set, variable := c.Int("control_set"), c.Int("variable")
	if set < 0 || set >= len(l.run.ControlSets) || variable < 0 || variable >= len(l.run.Variables) {
		l.err = l.r.file.Corrupt(store.Damage{Table: "control_set_variable", Row: c.Name(), Problem: "its control set or variable is missing"})
		return
	}
	names := &l.run.ControlSets[set].Variables
	*names = append(*names, l.run.Variables[variable].Name)
}
