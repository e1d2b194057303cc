package configs

import (
	"slices"

	"github.com/labtuner/tuner/configs/internal/schema"
)

// Known is what the schema knows of the rest of the program: it imports nothing.
type Known struct {
	Policies
	Drivers []Driver
	// Notices are the kinds of notices that a run can send.
	Notices []string
	// Own gives, for a section of the file, such as a *Safety or the *SafetyVariable of a
	// name, the structs of the packages that act on its further keys; they are filled.
	Own func(section any, name string) []any
}

// owner gives Own, or nil.
func (k *Known) owner() schema.Owner {
	if k == nil || k.Own == nil {
		return nil
	}
	return k.Own
}

// Driver is a word of [[device]] driver.
type Driver struct {
	Name string
	// Introduces says that its devices tell their channels themselves, so that a file need
	// not list them; IntroducedBy names a key of the device that does so.
	Introduces   bool
	IntroducedBy string
	// Declares gives what is known of a channel without opening the device, by the device's raw
	// keys, and says in words where from; false: nothing. nil: nothing of any.
	Declares func(device map[string]any, channel string) (d Declared, source string, known bool)
}

// enum lists the words of a field whose tag names a list that was handed in.
func (k *Known) enum(list string) (words []string) {
	switch {
	case k == nil:
	case list == "@policies":
		return k.KindNames()
	case list == "@acquisitions":
		return k.Acquisitions
	case list == "@notices":
		return k.Notices
	case list == "@drivers":
		for _, d := range k.Drivers {
			words = append(words, d.Name)
		}
	}
	return words
}

// introduces says that a device may have channels that the file does not list.
func (k *Known) introduces(d *Device) bool {
	return k != nil && slices.ContainsFunc(k.Drivers, func(known Driver) bool {
		return known.Name == d.Driver && (known.Introduces || d.own.Has(known.IntroducedBy))
	})
}

// Owned gives a struct with the keys of a section that its owner has, as the file filled it;
// nil where the owner has no such struct.
func Owned[T any](c *Config, section string) *T {
	for _, o := range c.owned[section] {
		if t, is := o.(*T); is {
			return t
		}
	}
	return nil
}
