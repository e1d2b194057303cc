package journal

import "fmt"

// migration brings a file of an older schema to the newest.
type migration struct {
	// from is the file's version; variables are the run's, for the view.
	from      int
	variables []Column
}

// run makes what later versions added, in one transaction: after a crash the file is
// of the old version or of the new one, and whole. No row is changed, because no
// version has taken anything away from the one before.
func (m migration) run(w *writer) error {
	if m.from == schemaVersion {
		return nil
	}
	return w.transaction(func() error {
		statements := []string{"DROP VIEW steps", viewSQL(schemaVersion, m.variables),
			fmt.Sprintf("PRAGMA user_version = %d", schemaVersion)}
		for v := schemaVersion; v > m.from; v-- { // tables first, the oldest version's first of all
			var tables []string
			for _, def := range added(v) {
				tables = append(tables, def.sql)
			}
			statements = append(tables, statements...)
		}
		for _, s := range statements {
			if err := w.exec(s); err != nil {
				return fmt.Errorf("bring it from schema version %d to %d: %w", m.from, schemaVersion, err)
			}
		}
		return nil
	})
}

// tellMigration records that the file was migrated.
func (j *Journal) tellMigration(from int, at Stamp) error {
	if from == schemaVersion {
		return nil
	}
	return j.Log(Event{Level: "info", Kind: "journal", At: at,
		Message: fmt.Sprintf("brought from schema version %d to %d", from, schemaVersion)})
}
