package configs

import "slices"

// Known is what the schema is told of the rest of the program: it imports nothing.
type Known struct {
	Policies
	Drivers []Driver
}

// Driver is a word of [[device]] driver.
type Driver struct {
	Name string
	// Introduces says that its devices tell their channels themselves, so that a file need
	// not list them; IntroducedBy names a key of the device that does so.
	Introduces   bool
	IntroducedBy string
}

// enum lists the words of a field whose tag names a list that was handed in.
func (k *Known) enum(list string) (words []string) {
	switch {
	case k == nil:
	case list == "@policies":
		return k.Words()
	case list == "@acquisitions":
		return k.Acquisitions
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
