package journal

import (
	"database/sql"
	"fmt"

	"github.com/labtuner/tuner/loop/journal/schema"
)

// Census counts the rows of each table of the file.
func (r *Reader) Census() (map[string]int64, error) {
	rows := map[string]int64{}
	err := r.file.Read(func(tx *sql.Tx) error {
		for _, def := range schema.Definitions(r.file.Version) {
			var n int64
			if err := tx.QueryRow(fmt.Sprintf("SELECT count(*) FROM %s", def.Table)).Scan(&n); err != nil {
				return err
			}
			rows[def.Table] = n
		}
		return nil
	})
	return rows, err
}
