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
