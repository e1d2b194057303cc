package schema

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"
)

const (
	// ApplicationID marks the file as a journal: "tunr" in ASCII. It stands at
	// byte 68 of the file, where file(1) looks for it.
	ApplicationID = 0x74756e72
	// Version is the user_version of new files.
	Version = 4
	// Salted is the first version whose checksums begin with the run's id. It has the tables
	// of the one before, Plain, which files that began without are brought to: their rows are
	// never written anew.
	Salted = 4
	Plain  = Salted - 1
	// Extended is the first version that a writer brings to a newer one, by adding tables. No
	// release has written an older one.
	Extended = 2
	// OlderDecisions is the version of what decides of sessions that none is recorded of:
	// those of files before version 3.
	OlderDecisions = 1
	// MaxVariables keeps the view steps, three columns per variable, within the
	// 2000 columns of SQLite.
	MaxVariables = 500
)

// What each version added to the one before it, in CREATE TABLE statements. A version
// that was released never changes; a table that is new goes to the end of the newest
// version if that is not released yet, else into a version of its own.
var (
	//go:embed schema.sql
	version1 string
	//go:embed schema2.sql
	version2 string
	//go:embed schema3.sql
	version3 string
)

// Definition is one CREATE TABLE of schema.sql: SQLite keeps its text in the
// file word for word, so a reader can compare.
type Definition struct {
	Table, SQL string
}

// Goal is the version that a writer brings a file to.
func Goal(version int) int {
	if version < Salted {
		return Plain
	}
	return Version
}

// Definitions lists the tables of a file of the given version, parents before
// children.
func Definitions(version int) []Definition {
	version = min(version, Plain) // none has been added since
	var defs []Definition
	for s := range strings.SplitSeq(strings.Join([]string{version1, version2, version3}[:version], ""), ";\n") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(s, "CREATE TABLE "), " ")
		defs = append(defs, Definition{Table: name, SQL: s})
	}
	return defs
}

// Table is what reading and writing need to know of a table.
type Table struct {
	Name string
	// columns in order, crc last; key those of the primary key.
	Columns, Key []string
	Index        map[string]int
}

// Querier is a connection or a transaction.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// Describe reads a table's columns.
func Describe(q Querier, name string) (*Table, error) {
	rows, err := q.QueryContext(context.Background(), "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	t := &Table{Name: name, Index: map[string]int{}}
	for rows.Next() {
		var column string
		var pk int
		if err := rows.Scan(&column, &pk); err != nil {
			return nil, err
		}
		t.Index[column] = len(t.Columns)
		t.Columns = append(t.Columns, column)
		if pk > 0 { // primary keys stand first and in order in every table
			t.Key = append(t.Key, column)
		}
	}
	return t, rows.Err()
}

// InsertSQL inserts so many rows into a table of so many columns.
func InsertSQL(table string, columns, rows int) string {
	one := "(?" + strings.Repeat(", ?", columns-1) + ")"
	return fmt.Sprintf("INSERT INTO %s VALUES %s%s", table, one, strings.Repeat(", "+one, rows-1))
}

// SelectSQL reads rows in the order of the primary key; where may be empty.
func (t *Table) SelectSQL(where string) string {
	if where != "" {
		where = " WHERE " + where
	}
	return fmt.Sprintf("SELECT * FROM %s%s ORDER BY %s", t.Name, where, strings.Join(t.Key, ", "))
}

// View is the view steps: the columns of the CSV export, one row per step,
// for those who look with a database browser. It holds no data of its own.
func View(version int, variables []string) string {
	var b strings.Builder
	b.WriteString(`CREATE VIEW steps AS SELECT d.step AS n,
  (SELECT group_concat(name, '+') FROM (SELECT v.name FROM control_set_variable c
    JOIN variable v ON v.n = c.variable WHERE c.control_set = d.control_set ORDER BY c.n)) AS control_set`)
	for _, group := range []struct{ prefix, Table, column string }{
		{"requested_", "decision_value", "requested"},
		{"applied_", "decision_value", "applied"},
		{"x_", "outcome_value", "x"},
	} {
		for i, name := range variables {
			fmt.Fprintf(&b, ",\n  (SELECT %s FROM %s WHERE step = d.step AND variable = %d) AS %s",
				group.column, group.Table, i, quoteName(group.prefix+name))
		}
	}
	b.WriteString(`,
  o.mean, o.variance, o.standard_error, ifnull(o.shots, 0) AS shots, o.cost,
  CASE WHEN o.step IS NULL THEN ifnull((SELECT spent FROM outcome WHERE step = d.step - 1), 0) ELSE o.spent END AS spent,
  ifnull(o.valid, 0) AS valid,
  (SELECT group_concat(name, '+') FROM (SELECT DISTINCT v.n, v.name FROM reason r
    JOIN variable v ON v.n = r.variable WHERE r.step = d.step ORDER BY v.n)) AS clamped,
  d.took_ns / 1e6 AS decision_ms, d.work, ifnull(o.problem, 'unfinished') AS problem,
  strftime('%Y-%m-%dT%H:%M:%S', ifnull(o.wall_ns, d.wall_ns) / 1000000000, 'unixepoch') ||
    printf('.%03dZ', ifnull(o.wall_ns, d.wall_ns) / 1000000 % 1000) AS time`)
	if version >= 2 {
		b.WriteString(`,
  (SELECT side FROM comparison_step WHERE step = d.step) AS verified`)
	}
	b.WriteString("\nFROM decision d LEFT JOIN outcome o ON o.step = d.step")
	return b.String()
}

// quoteName makes any text an SQL identifier.
func quoteName(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }
