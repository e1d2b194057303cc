package store

import (
	"context"

	"github.com/labtuner/tuner/loop/journal/schema"
)

// Counts gives how many rows each table of a file of a version has.
func Counts(q schema.Querier, version int) (map[string]int64, error) {
	rows := map[string]int64{}
	for _, def := range schema.Definitions(version) {
		var n int64
		if err := q.QueryRowContext(context.Background(), "SELECT count(*) FROM "+def.Table).Scan(&n); err != nil {
			return nil, err
		}
		rows[def.Table] = n
	}
	return rows, nil
}
