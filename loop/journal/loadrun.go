package journal

import (
	"database/sql"
	"fmt"
	"strconv"
)

// loadRun reads the run and sees that none of its rows is missing.
func (r *Reader) loadRun(tx *sql.Tx) (Run, error) {
	l := runLoader{r: r, rows: map[string]int{}, want: map[string]int{"run": 1, "session": 1, "config": 1}}
	for _, s := range []struct {
		span
		add func(*cells)
	}{
		{span{table: "run"}, l.addRun},
		{span{table: "session", where: "n = 1"}, l.addSession},
		{span{table: "config", where: "session = 1"}, l.addConfig},
		{span{table: "setting", where: "session = 1"}, l.addSetting},
		{span{table: "variable"}, l.addVariable},
		{span{table: "sensor"}, l.addSensor},
		{span{table: "control_set"}, l.addControlSet},
		{span{table: "control_set_variable"}, l.addControlSetVariable},
	} {
		err := r.scan(tx, s.span, func(c *cells) {
			l.rows[s.table]++
			s.add(c)
		})
		if err != nil {
			return Run{}, err
		}
	}
	for _, table := range []string{"run", "session", "config", "setting", "variable", "sensor", "control_set", "control_set_variable"} {
		if l.rows[table] != l.want[table] {
			return Run{}, r.corrupt(Damage{Table: table,
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

func (l *runLoader) addRun(c *cells) {
	l.run.ID, l.run.Name, l.run.Site = c.text("uid"), c.text("name"), c.text("site")
	l.run.Mode, l.run.Policy = c.text("mode"), c.text("policy")
	seed, err := strconv.ParseUint(c.text("seed"), 10, 64)
	if err != nil {
		l.err = l.r.corrupt(Damage{Table: "run", Row: c.name(), Problem: err.Error()})
	}
	l.run.Seed = seed
	l.run.Objective = Column{Name: c.text("objective"), Unit: c.text("objective_unit")}
	l.run.Minimize, l.run.CostUnit = c.flag("minimize"), c.text("cost_unit")
	l.want["variable"], l.want["sensor"], l.want["control_set"] = c.int("variables"), c.int("sensors"), c.int("control_sets")
}

func (l *runLoader) addSession(c *cells) {
	l.run.Version, l.run.BootID, l.run.Start = c.text("version"), c.text("boot_id"), c.stamp()
}

func (l *runLoader) addConfig(c *cells) {
	l.run.ConfigFile, l.run.ConfigText = c.text("file"), c.blob("text")
	l.want["setting"] = c.int("settings")
}

func (l *runLoader) addSetting(c *cells) {
	l.run.Effective = append(l.run.Effective, Setting{Key: c.text("key"), Value: c.text("value"), Origin: c.text("origin")})
}

func (l *runLoader) addVariable(c *cells) {
	l.run.Variables = append(l.run.Variables, Column{Name: c.text("name"), Unit: c.text("unit")})
}

func (l *runLoader) addSensor(c *cells) {
	l.run.Sensors = append(l.run.Sensors, Column{Name: c.text("name"), Unit: c.text("unit")})
}

func (l *runLoader) addControlSet(c *cells) {
	l.run.ControlSets = append(l.run.ControlSets, ControlSet{Cost: c.float("cost")})
	l.want["control_set_variable"] += c.int("variables")
}

func (l *runLoader) addControlSetVariable(c *cells) {
	set, variable := c.int("control_set"), c.int("variable")
	if set < 0 || set >= len(l.run.ControlSets) || variable < 0 || variable >= len(l.run.Variables) {
		l.err = l.r.corrupt(Damage{Table: "control_set_variable", Row: c.name(), Problem: "its control set or variable is missing"})
		return
	}
	names := &l.run.ControlSets[set].Variables
	*names = append(*names, l.run.Variables[variable].Name)
}
