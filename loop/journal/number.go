package journal

import (
	"encoding/json"
	"math"
)

// Number is a float64 that JSON can hold: NaN and the infinities are null, minus
// zero is zero, as in the journal.
type Number float64

// MarshalJSON writes the shortest decimal that reads back as the same number.
func (n Number) MarshalJSON() ([]byte, error) {
	x := float64(n)
	switch {
	case math.IsNaN(x), math.IsInf(x, 0):
		return []byte("null"), nil
	case x == 0:
		return []byte("0"), nil
	}
	return json.Marshal(x)
}

// UnmarshalJSON reads null as NaN.
func (n *Number) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*n = Number(math.NaN())
		return nil
	}
	return json.Unmarshal(b, (*float64)(n))
}

// Numbers gives values as JSON can hold them.
func Numbers(x []float64) []Number {
	out := make([]Number, len(x))
	for i, v := range x {
		out[i] = Number(v)
	}
	return out
}

// Known says that there is a number.
func (n Number) Known() bool { return !math.IsNaN(float64(n)) }
