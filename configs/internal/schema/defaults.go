package schema

import (
	"fmt"
	"reflect"
	"strconv"
	"time"
)

// SetDefaults sets the defaults of the struct that ptr points to, and of the sections in it
// that are there whatever a file says.
func SetDefaults(ptr any) { setDefaults(reflect.ValueOf(ptr)) }

func setDefaults(ptr reflect.Value) {
	v := ptr.Elem()
	if !isSection(v.Type()) {
		return
	}
	for _, f := range FieldsOf(v.Type()) {
		fv := v.FieldByIndex(f.Index)
		switch {
		case isSection(fv.Type()):
			setDefaults(fv.Addr())
		case f.preset == "":
		default:
			if err := preset(fv, f.preset); err != nil {
				panic(fmt.Sprintf("the default of %s in %s: %v", f.Key, v.Type(), err)) // a slip in this program
			}
		}
	}
}

// preset sets a value from the text of its tag.
func preset(v reflect.Value, text string) (err error) {
	var x any
	switch {
	case v.Type() == TypeDuration:
		x, err = time.ParseDuration(text)
	case v.Kind() == reflect.String:
		x = text
	case v.Kind() == reflect.Float64:
		x, err = strconv.ParseFloat(text, 64)
	case v.Kind() == reflect.Bool:
		x, err = strconv.ParseBool(text)
	case v.CanInt():
		x, err = strconv.ParseInt(text, 10, 64)
	case v.Kind() == reflect.Slice && text == "[]":
		x = reflect.MakeSlice(v.Type(), 0, 0).Interface()
	default:
		err = fmt.Errorf("%s has no default by a tag", v.Type())
	}
	if err == nil {
		v.Set(reflect.ValueOf(x).Convert(v.Type()))
	}
	return err
}

// Range is a closed interval, written as [lo, hi] with lo < hi.
type Range struct {
	Lo, Hi float64
}

// Contains reports whether v lies in the interval, its ends included.
func (r Range) Contains(v float64) bool { return v >= r.Lo && v <= r.Hi }

// Covers reports whether the whole of inner lies in the interval.
func (r Range) Covers(inner Range) bool { return r.Lo <= inner.Lo && inner.Hi <= r.Hi }

// Width is the length of the interval.
func (r Range) Width() float64 { return r.Hi - r.Lo }

// Numbers is a list of numbers, which a file may also write as a single number.
type Numbers []float64

// FormatRange writes an interval as a person would.
func FormatRange(r Range) string {
	return "[" + FormatNumber(r.Lo) + ", " + FormatNumber(r.Hi) + "]"
}
