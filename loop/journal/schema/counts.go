package schema

import "fmt"

// Count says how many rows of a table there should be for each row of a
// parent.
type Count struct {
	Table string
	// of selects the table's rows that belong to a row p of parent; empty means
	// all of them.
	of string
	// parent is a FROM clause that names its rows p; name gives such a row in
	// words; want is how many there should be. All are SQL.
	parent, name, want string
}

// Query gives name, rows found and rows wanted where the two differ.
func (c Count) Query() string {
	of := c.of
	if of == "" {
		of = "true"
	}
	return fmt.Sprintf("SELECT * FROM (SELECT %s AS name, (SELECT count(*) FROM %s WHERE %s) AS found, %s AS want FROM %s) WHERE found <> want",
		c.name, c.Table, of, c.want, c.parent)
}

// Counts lists every count that the file holds twice: as rows, and as a
// number or the last of a gapless numbering.
func Counts(version int) []Count {
	const (
		decision = "'step ' || p.step"
		shot     = "'step ' || p.step || ', shot ' || p.n"
		closed   = "(SELECT step FROM decision WHERE step < (SELECT max(step) FROM decision)) p"
	)
	checks := []Count{
		{"variable", "", "run p", "''", "p.variables"},
		{"sensor", "", "run p", "''", "p.sensors"},
		{"control_set", "", "run p", "''", "p.control_sets"},
		{"control_set_variable", "control_set = p.n", "control_set p", "'control_set ' || p.n", "p.variables"},
		{"setting", "session = p.session", "config p", "'session ' || p.session", "p.settings"},
		{"decision_value", "step = p.step", "decision p", decision, "(SELECT variables FROM run)"},
		{"reason", "step = p.step", "decision p", decision, "p.reasons"},
		{"outcome", "step = p.step", closed, decision, "1"},
		{"outcome_value", "step = p.step", "outcome p", decision, "(SELECT variables FROM run)"},
		{"shot", "step = p.step", "outcome p", decision, "p.recorded"},
		{"shot_value", "step = p.step AND shot = p.n", "shot p", shot, "(SELECT variables FROM run)"},
		{"shot_reading", "step = p.step AND shot = p.n", "shot p", shot, "(SELECT sensors FROM run)"},
		{"action_channel", "action = p.id", "action p", "'action ' || p.id", "p.channels"},
		{"action_state", "action = p.id", "action p", "'action ' || p.id", "(SELECT ifnull(max(n), 0) FROM action_state WHERE action = p.id)"},
		{"action_readback", "action = p.action AND state = p.n", "action_state p", "'action ' || p.action || ', state ' || p.n", "p.readbacks"},
	}
	numbers := [][2]string{{"session", "n"}, {"decision", "step"}, {"action", "id"}, {"event", "id"}}
	if version >= 2 {
		checks = append(checks,
			Count{"comparison_value", "comparison = p.n", "comparison p", "'comparison ' || p.n", "(SELECT variables FROM run)"},
			Count{"warm", "source = p.n", "warm_source p", "'source ' || p.n", "p.taken"},
			Count{"warm_value", "source = p.source AND n = p.n", "warm p", "'source ' || p.source || ', n ' || p.n", "(SELECT variables FROM run)"})
		numbers = append(numbers, [2]string{"comparison", "n"}, [2]string{"command", "id"}, [2]string{"tape", "id"})
	}
	if version >= 3 {
		checks = append(checks, Count{"session_decisions", "session = p.n", "session p", "'session ' || p.n", "1"})
	}
	for _, numbered := range numbers {
		checks = append(checks, Count{numbered[0], "", "run p", "''",
			fmt.Sprintf("(SELECT ifnull(max(%s), 0) FROM %s)", numbered[1], numbered[0])})
	}
	return checks
}
