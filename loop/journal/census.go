package journal

import (
	"database/sql"
	"fmt"
)

// Census counts the rows of each table of the file.
func (r *Reader) Census() (map[string]int64, error) {
	rows := map[string]int64{}
	err := r.read(func(tx *sql.Tx) error {
		for _, def := range definitions(r.version) {
			var n int64
			if err := tx.QueryRow(fmt.Sprintf("SELECT count(*) FROM %s", def.table)).Scan(&n); err != nil {
				return err
			}
			rows[def.table] = n
		}
		return nil
	})
	return rows, err
}
