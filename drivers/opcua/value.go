package opcua

import (
	"errors"
	"fmt"
	"math"

	"github.com/gopcua/opcua/ua"
)

// number gives the number in a variant.
func number(v *ua.Variant) (float64, error) {
	if v == nil || v.Value() == nil {
		return 0, errors.New("there is no value")
	}
	switch x := v.Value().(type) {
	case float64:
		return finite(x)
	case float32:
		return finite(float64(x))
	case bool:
		if x {
			return 1, nil
		}
		return 0, nil
	case int8, int16, int32, int64:
		return float64(v.Int()), nil
	case uint8, uint16, uint32, uint64:
		return float64(v.Uint()), nil
	}
	return 0, fmt.Errorf("its value is a %T and no number", v.Value())
}

func finite(x float64) (float64, error) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, fmt.Errorf("its value is %v", x)
	}
	return x, nil
}

// whole are the types that hold whole numbers, with their bounds. 64 bits end where a float64
// counts no further by ones.
var whole = map[ua.TypeID]struct{ low, high float64 }{
	ua.TypeIDBoolean: {0, 1},
	ua.TypeIDSByte:   {math.MinInt8, math.MaxInt8},
	ua.TypeIDByte:    {0, math.MaxUint8},
	ua.TypeIDInt16:   {math.MinInt16, math.MaxInt16},
	ua.TypeIDUint16:  {0, math.MaxUint16},
	ua.TypeIDInt32:   {math.MinInt32, math.MaxInt32},
	ua.TypeIDUint32:  {0, math.MaxUint32},
	ua.TypeIDInt64:   {-1 << 53, 1 << 53},
	ua.TypeIDUint64:  {0, 1 << 53},
}

// variant makes the value of a node's type; a whole type takes the nearest number.
func variant(t ua.TypeID, v float64) (*ua.Variant, error) {
	switch t {
	case ua.TypeIDDouble:
		return ua.NewVariant(v)
	case ua.TypeIDFloat:
		if math.Abs(v) > math.MaxFloat32 {
			return nil, fmt.Errorf("%v is more than single precision holds", v)
		}
		return ua.NewVariant(float32(v))
	}
	bound, known := whole[t]
	if !known {
		return nil, fmt.Errorf("the node holds a %v, which takes no number", t)
	}
	v = math.Round(v)
	if v < bound.low || v > bound.high {
		return nil, fmt.Errorf("%v is outside of what a %v holds, %v to %v", v, t, bound.low, bound.high)
	}
	switch t {
	case ua.TypeIDBoolean:
		return ua.NewVariant(v == 1)
	case ua.TypeIDSByte:
		return ua.NewVariant(int8(v))
	case ua.TypeIDByte:
		return ua.NewVariant(byte(v))
	case ua.TypeIDInt16:
		return ua.NewVariant(int16(v))
	case ua.TypeIDUint16:
		return ua.NewVariant(uint16(v))
	case ua.TypeIDInt32:
		return ua.NewVariant(int32(v))
	case ua.TypeIDUint32:
		return ua.NewVariant(uint32(v))
	case ua.TypeIDInt64:
		return ua.NewVariant(int64(v))
	}
	return ua.NewVariant(uint64(v))
}

// The two highest bits of a status are its severity (OPC UA, part 4, 7.39).
func isGood(s ua.StatusCode) bool      { return s>>30 == 0 }
func isUncertain(s ua.StatusCode) bool { return s>>30 == 1 }
