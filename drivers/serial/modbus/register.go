package modbus

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/labtuner/tuner/drivers"
	"github.com/labtuner/tuner/drivers/serial/protocol"
)

// Station are the keys of a device that speaks Modbus.
type Station struct {
	Address int     `toml:"address" bound:">= 0, <= 255" doc:"modbus: the instrument's address on the bus, 1 to 247; modbus-tcp: the unit, which tells instruments behind a gateway apart"`
	Expect  *Expect `toml:"expect" doc:"modbus: a register that tells the right instrument, at every connect"`
}

// Register is where a value stands in an instrument with Modbus: registers, or a coil.
type Register struct {
	Function int      `toml:"function" required:"true" doc:"to read: 3 (holding registers), 4 (input registers), 1 (coils) or 2 (discrete inputs); to write: 6 (one register) or 16, 5 (one coil) or 15"`
	Address  int      `toml:"address" required:"true" bound:">= 0, <= 65535" doc:"of the first register, or of the coil, as it is on the wire, from 0; manuals that begin with 40001, 30001, 10001 or 1 mean 0 by it"`
	Type     string   `toml:"type" required:"true" enum:"uint16,int16,uint32,int32,float32,uint64,int64,float64,bool" doc:"what the registers hold; the types of 32 bits take two, those of 64 bits four; bool is a coil, 0 or 1"`
	Order    string   `toml:"order" enum:"ABCD,CDAB,BADC,DCBA" doc:"how the bytes of a value come, A the highest: CDAB has the lowest register first, BADC the bytes of each register swapped, DCBA both, of 64 bits too; absent: ABCD"`
	None     *float64 `toml:"none" doc:"what the registers hold, before scale, where there is no value, such as 32767"`
}

// Expect is a register that tells the instrument.
type Expect struct {
	Register Register `toml:"register" required:"true" doc:"where to look"`
	Value    float64  `toml:"value" required:"true" doc:"the value that must stand there, so that no other instrument is driven"`
}

// size is how many registers or coils the value takes.
func (r *Register) size() int {
	switch r.Type {
	case "uint16", "int16", "bool":
		return 1
	case "uint64", "int64", "float64":
		return 4
	}
	return 2
}

// most is how many of its kind one answer can hold.
func (r *Register) most() int {
	if ofBits(r.Function) {
		return maxCoils
	}
	return maxRegisters
}

// part is what concerns the value in an answer that holds it at a place.
func (r *Register) part(answer []byte, place int) []byte {
	if ofBits(r.Function) {
		return []byte{answer[place/8] >> (place % 8) & 1}
	}
	return answer[2*place : 2*(place+r.size())]
}

// validate checks the register for reading or writing.
func (r *Register) validate(functions ...int) error {
	switch {
	case !slices.Contains(functions, r.Function):
		return fmt.Errorf("function is %d and must be one of %v", r.Function, functions)
	case ofBits(r.Function) != (r.Type == "bool"):
		return fmt.Errorf("function %d and type %q do not go together; coils, of functions 1, 2, 5 and 15, are of type bool, registers of the others", r.Function, r.Type)
	case r.Address+r.size() > 1<<16:
		return fmt.Errorf("address is %d and must leave room for %d registers below 65536", r.Address, r.size())
	case r.Function == writeSingle && r.size() > 1:
		return fmt.Errorf("function 6 writes one register, and %s takes %d; use function 16", r.Type, r.size())
	case r.None != nil && !drivers.Finite(*r.None):
		return fmt.Errorf("none is %v and must be finite", *r.None)
	}
	return nil
}

// arranged puts the bytes of a value from the order of the wire into ABCD, or back:
// every order is its own inverse.
func (r *Register) arranged(b []byte) []byte {
	out := slices.Clone(b)
	if r.Order == "BADC" || r.Order == "DCBA" {
		for i := 0; i+1 < len(out); i += 2 {
			out[i], out[i+1] = out[i+1], out[i]
		}
	}
	if r.Order == "CDAB" || r.Order == "DCBA" {
		for i, j := 0, len(out)-2; i < j; i, j = i+2, j-2 {
			out[i], out[i+1], out[j], out[j+1] = out[j], out[j+1], out[i], out[i+1]
		}
	}
	return out
}

// errNone says that the registers hold what stands for no value.
var errNone = errors.New("no value")

// exact is the greatest whole number up to which a float64 holds every one.
const exact = 1 << 53

// decode reads the value out of the registers' bytes. One that is not finite is an
// error; a whole number beyond exact is rounded.
func (r *Register) decode(b []byte) (float64, error) {
	b = r.arranged(b)
	var v float64
	switch r.Type {
	case "bool":
		v = float64(b[0] & 1)
	case "uint16":
		v = float64(binary.BigEndian.Uint16(b))
	case "int16":
		v = float64(int16(binary.BigEndian.Uint16(b)))
	case "uint32":
		v = float64(binary.BigEndian.Uint32(b))
	case "int32":
		v = float64(int32(binary.BigEndian.Uint32(b)))
	case "uint64":
		v = float64(binary.BigEndian.Uint64(b))
	case "int64":
		v = float64(int64(binary.BigEndian.Uint64(b)))
	case "float64":
		v = math.Float64frombits(binary.BigEndian.Uint64(b))
	default:
		v = float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	}
	switch {
	case !drivers.Finite(v):
		return 0, fmt.Errorf("%w: the registers hold %v, which is no number; is order right?", protocol.ErrMismatch, v)
	case r.None != nil && v == *r.None:
		return 0, errNone
	}
	return v, nil
}

// encode gives the bytes for a value, rounded to what the type can hold, and that
// rounded value.
func (r *Register) encode(v float64) ([]byte, float64, error) {
	limits := map[string][2]float64{"bool": {0, 1}, "uint16": {0, math.MaxUint16}, "int16": {math.MinInt16, math.MaxInt16},
		"uint32": {0, math.MaxUint32}, "int32": {math.MinInt32, math.MaxInt32}, "float32": {-math.MaxFloat32, math.MaxFloat32},
		"uint64": {0, exact}, "int64": {-exact, exact}, "float64": {-math.MaxFloat64, math.MaxFloat64}}[r.Type]
	if r.Type != "float32" && r.Type != "float64" {
		v = math.Round(v)
	}
	if !(v >= limits[0] && v <= limits[1]) {
		return nil, 0, fmt.Errorf("%v does not fit into %s, which holds %v to %v", v, r.Type, limits[0], limits[1])
	}
	var b []byte
	switch r.Type {
	case "bool":
		b = []byte{byte(v)}
	case "uint16":
		b = binary.BigEndian.AppendUint16(nil, uint16(v))
	case "int16":
		b = binary.BigEndian.AppendUint16(nil, uint16(int16(v)))
	case "uint32":
		b = binary.BigEndian.AppendUint32(nil, uint32(v))
	case "int32":
		b = binary.BigEndian.AppendUint32(nil, uint32(int32(v)))
	case "uint64":
		b = binary.BigEndian.AppendUint64(nil, uint64(v))
	case "int64":
		b = binary.BigEndian.AppendUint64(nil, uint64(int64(v)))
	case "float64":
		b = binary.BigEndian.AppendUint64(nil, math.Float64bits(v))
	default:
		v = float64(float32(v))
		b = binary.BigEndian.AppendUint32(nil, math.Float32bits(float32(v)))
	}
	return r.arranged(b), v, nil
}
