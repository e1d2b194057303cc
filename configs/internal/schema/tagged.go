package schema

import "reflect"

// Tagged lists the keys of a struct that have a tag, with its value, in the struct's order,
// then those of a section's owners; * stands for the name of an element of a repeated
// section.
func Tagged(of any, tag string, own Owner) (all [][2]string) {
	var visit func(v reflect.Value, at string)
	visit = func(v reflect.Value, at string) {
		parts := []reflect.Value{v}
		for _, o := range own.of(v, at) {
			parts = append(parts, reflect.ValueOf(o).Elem())
		}
		for _, part := range parts {
			for _, f := range FieldsOf(part.Type()) {
				key, fv := Join(at, f.Key), part.FieldByIndex(f.Index)
				inner, _, _ := InnerSection(fv, "")
				if value := f.Tag.Get(tag); value != "" {
					if fv.Kind() == reflect.Map && !inner.IsValid() {
						key += ".*"
					}
					all = append(all, [2]string{key, value})
				}
				if inner.IsValid() {
					if k := fv.Kind(); k == reflect.Map || k == reflect.Slice {
						key += ".*"
					}
					visit(inner, key)
				}
			}
		}
	}
	visit(reflect.ValueOf(of).Elem(), "")
	return all
}
