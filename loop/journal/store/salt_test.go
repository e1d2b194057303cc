package store

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/labtuner/tuner/loop/journal/schema"
)

// TestLoadSalt: a row without a uid is told like no row at all, which the caller takes for damage.
func TestLoadSalt(t *testing.T) {
	for _, c := range []struct {
		fill string
		want schema.Salt
		err  error
	}{
		{"PRAGMA user_version = 4; INSERT INTO run VALUES ('u')", schema.SaltOf(4, "u"), nil},
		{"PRAGMA user_version = 3; INSERT INTO run VALUES ('u')", schema.SaltOf(3, "u"), nil},
		{"PRAGMA user_version = 4; INSERT INTO run VALUES (NULL)", "", sql.ErrNoRows},
		{"PRAGMA user_version = 4", "", sql.ErrNoRows},
	} {
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			t.Fatal(err)
		}
		db.SetMaxOpenConns(1) // each connection has a memory of its own
		if _, err := db.Exec("CREATE TABLE run (uid TEXT); " + c.fill); err != nil {
			t.Fatal(err)
		}
		salt, err := LoadSalt(db)
		if !errors.Is(err, c.err) || err == nil && salt != c.want {
			t.Errorf("%s: %q, %v; want %q, %v", c.fill, salt, err, c.want, c.err)
		}
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}
