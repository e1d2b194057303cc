package export

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"reflect"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/snappy"

	"github.com/labtuner/tuner/loop/journal"
)

// rowsPerGroup bounds what is kept in memory before it is written.
const rowsPerGroup = 20000

// writeParquet writes a table as Parquet: a column a column, null where there is no data. The
// file's metadata have Units as JSON under "tuner.units".
func writeParquet[T any](w io.Writer, run journal.Run, columns []column[T], records iter.Seq2[T, error]) error {
	schema, err := parquetSchema(columns)
	if err != nil {
		return err
	}
	units, err := json.Marshal(unitsOf(run, columns))
	if err != nil {
		return err
	}
	out := parquet.NewGenericWriter[any](w, schema, parquet.Compression(&snappy.Codec{}), parquet.MaxRowsPerRowGroup(rowsPerGroup),
		parquet.CreatedBy("tuner", run.Version, ""), parquet.KeyValueMetadata("tuner.units", string(units)))
	row := make(parquet.Row, len(columns))
	for record, err := range records {
		if err != nil {
			return err // without its end the file is none
		}
		for i, c := range columns {
			row[i] = c.value(record).parquet(i)
		}
		if _, err := out.WriteRows([]parquet.Row{row}); err != nil {
			return err
		}
	}
	return out.Close()
}

// parquetSchema keeps the columns in their order, as the fields of a struct are; a group by names
// would sort them.
func parquetSchema[T any](columns []column[T]) (*parquet.Schema, error) {
	var fields []reflect.StructField
	for i, c := range columns {
		if strings.ContainsAny(c.name, "\",`\\") {
			return nil, fmt.Errorf("%q cannot be the name of a column of a Parquet file", c.name)
		}
		f := reflect.StructField{Name: fmt.Sprintf("F%d", i)}
		tag := c.name + ",optional"
		switch c.kind() {
		case aNumber:
			f.Type = reflect.TypeFor[float64]()
		case aWhole:
			f.Type, tag = reflect.TypeFor[int64](), c.name
		case aTruth:
			f.Type, tag = reflect.TypeFor[bool](), c.name
		case anInstant:
			f.Type, tag = reflect.TypeFor[time.Time](), tag+",timestamp(microsecond)"
		default:
			f.Type = reflect.TypeFor[string]()
		}
		f.Tag = reflect.StructTag(fmt.Sprintf(`parquet:"%s"`, tag))
		fields = append(fields, f)
	}
	return parquet.SchemaOf(reflect.New(reflect.StructOf(fields)).Interface()), nil
}

// parquet is the cell as a value of column i.
func (c cell) parquet(i int) parquet.Value {
	switch {
	case c.kind == aWhole:
		return parquet.Int64Value(int64(c.whole)).Level(0, 0, i)
	case c.kind == aTruth:
		return parquet.BooleanValue(c.whole == 1).Level(0, 0, i)
	case c.empty():
		return parquet.NullValue().Level(0, 0, i)
	case c.kind == aNumber:
		return parquet.DoubleValue(c.number).Level(0, 1, i)
	case c.kind == anInstant:
		return parquet.Int64Value(c.at.UnixMicro()).Level(0, 1, i)
	}
	return parquet.ByteArrayValue([]byte(c.words)).Level(0, 1, i)
}
