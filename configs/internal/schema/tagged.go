package schema

import "reflect"

// Tagged lists the keys of a struct that have a tag, with its value, in the struct's order;
// * stands for the name of an element of a repeated section.
func Tagged(of any, tag string) (all [][2]string) {
	var visit func(t reflect.Type, at string)
	visit = func(t reflect.Type, at string) {
		for _, f := range FieldsOf(t) {
			sf := t.FieldByIndex(f.Index)
			key := Join(at, f.Key)
			if value := sf.Tag.Get(tag); value != "" {
				all = append(all, [2]string{key, value})
			}
			switch inner := sf.Type; {
			case inner.Kind() == reflect.Pointer && isSection(inner.Elem()):
				visit(inner.Elem(), key)
			case (inner.Kind() == reflect.Map || inner.Kind() == reflect.Slice) && isSection(inner.Elem()):
				visit(inner.Elem(), key+".*")
			case isSection(inner):
				visit(inner, key)
			}
		}
	}
	visit(reflect.TypeOf(of).Elem(), "")
	return all
}
