package export

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/labtuner/tuner/loop/journal/journaltest"
)

// TestParquetIsTheTable: a Parquet file has the columns of the CSV export in their order, with the
// same cells, null where those are empty; its metadata say what each column is.
func TestParquetIsTheTable(t *testing.T) {
	for _, c := range []struct{ file, table Format }{{Parquet, CSV}, {ShotsParquet, ShotsCSV}} {
		for _, path := range []string{twoSessions(t), old(t)} {
			table, err := csv.NewReader(bytes.NewReader(mustExport(t, path, c.table))).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			b := mustExport(t, path, c.file)
			f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
			if err != nil {
				t.Fatal(err)
			}
			columns := f.Schema().Columns()
			if len(columns) != len(table[0]) || f.NumRows() != int64(len(table)-1) {
				t.Fatalf("%s: %d columns and %d rows, want %d and %d", c.file, len(columns), f.NumRows(), len(table[0]), len(table)-1)
			}
			described, ok := f.Lookup("tuner.units")
			var units Units
			if err := json.Unmarshal([]byte(described), &units); !ok || err != nil || len(units.Columns) != len(columns) {
				t.Errorf("%s: units %v %v of %d columns", c.file, ok, err, len(units.Columns))
			}
			for i, name := range columns {
				if name[0] != table[0][i] {
					t.Errorf("%s: column %d is %s, want %s", c.file, i, name[0], table[0][i])
				}
			}
			rows := parquet.NewReader(f)
			buf := make([]parquet.Row, 1)
			for i := 1; i < len(table); i++ {
				if n, err := rows.ReadRows(buf); n != 1 || err != nil && !errors.Is(err, io.EOF) {
					t.Fatalf("%s: row %d: %d, %v", c.file, i, n, err)
				}
				for k, v := range buf[0] {
					if got, want := shownParquet(v, table[i][k]), table[i][k]; got != want {
						t.Errorf("%s: row %d, %s: %q, want %q", c.file, i, table[0][k], got, want)
					}
				}
			}
		}
	}
}

// shownParquet is a value as the table of texts has it, whose own text says how a time is written.
func shownParquet(v parquet.Value, like string) string {
	switch {
	case v.IsNull():
		return ""
	case v.Kind() == parquet.Double:
		return decimal(v.Double())
	case v.Kind() == parquet.Boolean:
		return strconv.FormatBool(v.Boolean())
	case v.Kind() == parquet.Int64:
		if want, err := time.Parse(time.RFC3339Nano, like); err == nil {
			at := time.UnixMicro(v.Int64()).UTC()
			if d := want.Sub(at); d < 0 && d > -time.Millisecond || d >= 0 && d < time.Microsecond { // the table of steps rounds to ms
				return like
			}
			return at.Format(time.RFC3339Nano)
		}
		return strconv.FormatInt(v.Int64(), 10)
	}
	return string(v.ByteArray())
}

// TestParquetEmpty: a run without a step is a table without rows.
func TestParquetEmpty(t *testing.T) {
	path, _ := journaltest.Demo(t, 0)
	for _, format := range []Format{Parquet, ShotsParquet} {
		b := mustExport(t, path, format)
		f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			t.Fatal(err)
		}
		if f.NumRows() != 0 {
			t.Errorf("%s: %d rows", format, f.NumRows())
		}
	}
}
