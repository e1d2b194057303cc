package journal

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"
)

const (
	// applicationID marks the file as a journal: "tunr" in ASCII. It stands at
	// byte 68 of the file, where file(1) looks for it.
	applicationID = 0x74756e72
	// schemaVersion is the user_version of new files.
	schemaVersion = 2
	// maxVariables keeps the view steps, three columns per variable, within the
	// 2000 columns of SQLite.
	maxVariables = 500
)

// What each version added to the one before it, in CREATE TABLE statements. A version
// that was released never changes; a table that is new goes to the end of the newest
// version if that is not released yet, else into a version of its own.
var (
	//go:embed schema.sql
	schema1 string
	//go:embed schema2.sql
	schema2 string
)

// definition is one CREATE TABLE of schema.sql: SQLite keeps its text in the
// file word for word, so a reader can compare.
type definition struct {
	table, sql string
}

// definitions lists the tables of a file of the given version, parents before
// children.
func definitions(version int) []definition {
	var defs []definition
	for s := range strings.SplitSeq(strings.Join([]string{schema1, schema2}[:version], ""), ";\n") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		name, _, _ := strings.Cut(strings.TrimPrefix(s, "CREATE TABLE "), " ")
		defs = append(defs, definition{table: name, sql: s})
	}
	return defs
}

// table is what reading and writing need to know of a table.
type table struct {
	name string
	// columns in order, crc last; key those of the primary key.
	columns, key []string
	index        map[string]int
}

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// loadTables compares the file's tables with those of its version and describes them.
// A difference comes back as Damage.
func loadTables(q querier, version int) (map[string]*table, []Damage, error) {
	tables := map[string]*table{}
	var damage []Damage
	for _, def := range definitions(version) {
		var got sql.NullString
		err := q.QueryRowContext(context.Background(),
			"SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", def.table).Scan(&got)
		switch {
		case err == sql.ErrNoRows:
			damage = append(damage, Damage{Table: def.table, Problem: "the table is missing"})
			continue
		case err != nil:
			return nil, nil, err
		case got.String != def.sql:
			damage = append(damage, Damage{Table: def.table, Problem: "the table's definition was altered"})
			continue
		}
		t, err := describe(q, def.table)
		if err != nil {
			return nil, nil, err
		}
		tables[def.table] = t
	}
	return tables, damage, nil
}

// describe reads a table's columns.
func describe(q querier, name string) (*table, error) {
	rows, err := q.QueryContext(context.Background(), "SELECT name, pk FROM pragma_table_info(?) ORDER BY cid", name)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	t := &table{name: name, index: map[string]int{}}
	for rows.Next() {
		var column string
		var pk int
		if err := rows.Scan(&column, &pk); err != nil {
			return nil, err
		}
		t.index[column] = len(t.columns)
		t.columns = append(t.columns, column)
		if pk > 0 { // primary keys stand first and in order in every table
			t.key = append(t.key, column)
		}
	}
	return t, rows.Err()
}

// insertSQL inserts one row.
func (t *table) insertSQL() string {
	return fmt.Sprintf("INSERT INTO %s VALUES (?%s)", t.name, strings.Repeat(", ?", len(t.columns)-1))
}

// selectSQL reads rows in the order of the primary key; where may be empty.
func (t *table) selectSQL(where string) string {
	if where != "" {
		where = " WHERE " + where
	}
	return fmt.Sprintf("SELECT * FROM %s%s ORDER BY %s", t.name, where, strings.Join(t.key, ", "))
}

// viewSQL is the view steps: the columns of the CSV export, one row per step,
// for those who look with a database browser. It holds no data of its own.
func viewSQL(version int, variables []Column) string {
	var b strings.Builder
	b.WriteString(`CREATE VIEW steps AS SELECT d.step AS n,
  (SELECT group_concat(name, '+') FROM (SELECT v.name FROM control_set_variable c
    JOIN variable v ON v.n = c.variable WHERE c.control_set = d.control_set ORDER BY c.n)) AS control_set`)
	for _, group := range []struct{ prefix, table, column string }{
		{"requested_", "decision_value", "requested"},
		{"applied_", "decision_value", "applied"},
		{"x_", "outcome_value", "x"},
	} {
		for i, v := range variables {
			fmt.Fprintf(&b, ",\n  (SELECT %s FROM %s WHERE step = d.step AND variable = %d) AS %s",
				group.column, group.table, i, quoteName(group.prefix+v.Name))
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
