package journal

import (
	"context"
	"database/sql"

	"github.com/labtuner/tuner/loop/journal/schema"
)

// loadTables compares the file's tables with those of its version and describes them.
// A difference comes back as Damage.
func loadTables(q schema.Querier, version int) (map[string]*schema.Table, []Damage, error) {
	tables := map[string]*schema.Table{}
	var damage []Damage
	for _, def := range schema.Definitions(version) {
		var got sql.NullString
		err := q.QueryRowContext(context.Background(),
			"SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", def.Table).Scan(&got)
		switch {
		case err == sql.ErrNoRows:
			damage = append(damage, Damage{Table: def.Table, Problem: "the table is missing"})
			continue
		case err != nil:
			return nil, nil, err
		case got.String != def.SQL:
			damage = append(damage, Damage{Table: def.Table, Problem: "the table's definition was altered"})
			continue
		}
		t, err := schema.Describe(q, def.Table)
		if err != nil {
			return nil, nil, err
		}
		tables[def.Table] = t
	}
	return tables, damage, nil
}
