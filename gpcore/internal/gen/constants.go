package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Numbers of package vec. Its tests compare every bit of every result with the
// definition there, so a difference cannot go unseen.
var exp2Coeff = [12]float64{
	1,
	0x1.62e42fefa39efp-1, 0x1.ebfbdff82c59cp-3, 0x1.c6b08d7049f9cp-5,
	0x1.3b2ab6fba1030p-7, 0x1.5d87fe7908058p-10, 0x1.4309130cb46c8p-13,
	0x1.ffcbfa224411ep-17, 0x1.62bfcb6c1e348p-20, 0x1.b52a2e6a7d33cp-24,
	0x1.e616bdbcff7e1p-28, 0x1.e194a276f24d2p-32,
}

// Places in the table of constants; the coefficients come first.
const (
	oneAt = 0
	topAt = 11 // the highest coefficient
)
const (
	thirdAt = 12 + iota
	negLog2EAt
	negLog2ELowAt
	exp2LimitAt
	farthestAt // bound of q where exp(-sqrt q) is taken
	magicAt
	biasAt
	inversePiAt
	pi1At // pi in three parts
	pi2At
	pi3At
	cosineAt      // coefficients of the cosine in x^2, from that of x^2 on
	constantCount = cosineAt + cosineTerms
)

// cosineTerms is the number of coefficients of the cosine's polynomial after the first, which is one.
const cosineTerms = 10

func constantTable() []float64 {
	c := append([]float64(nil), exp2Coeff[:]...)
	c = append(c,
		1.0/3,
		-math.Log2E,
		-0x1.777d0ffda0d24p-56, // log2(e) minus its rounded value
		-1000,
		693*693,
		0x1.8p52,                   // adding and subtracting it rounds to the nearest integer
		math.Float64frombits(1023), // the bias of an exponent, as an integer
		1/math.Pi, 0x1.921fb54000000p+1, 0x1.10b4610000000p-29, 0x1.a62633145c06ep-57,
	)
	f := 1.0
	for i := 1; i <= cosineTerms; i++ {
		f *= -float64(2*i-1) * float64(2*i)
		c = append(c, 1/f)
	}
	return c
}

// Each constant stands four times, for 256-bit operands.
const constantBytes = 32

func (t *tier) declareConstants() {
	t.StaticGlobal("constants")
	t.DataAttributes(attr.RODATA | attr.NOPTR)
	for _, v := range constantTable() {
		for range constantBytes / 8 {
			t.AppendDatum(operand.U64(math.Float64bits(v)))
		}
	}
	if t.wide {
		return
	}
	// Eight words of ones, then eight of zeros: see maskTable.
	t.StaticGlobal("masks")
	t.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		v := operand.U64(0)
		if i < 8 {
			v = math.MaxUint64
		}
		t.AppendDatum(v)
	}
}

// constantAt is constant i in memory.
func constantAt(i int) operand.Mem {
	return operand.NewDataAddr(operand.Symbol{Name: "constants", Static: true}, constantBytes*i)
}

// maskTable is the table of masks; the mask of the n lowest words starts 8-n words
// after its start.
func maskTable() operand.Mem {
	return operand.NewDataAddr(operand.Symbol{Name: "masks", Static: true}, 0)
}

// register broadcasts constant i.
func (t *tier) register(i int) reg.VecVirtual { return t.broadcast(constantAt(i)) }

// The following are operations with constant i as an operand from memory.

// addConstant is v = a + c_i.
func (t *tier) addConstant(i int, a, v reg.VecVirtual) {
	if t.wide {
		t.VADDPD_BCST(constantAt(i), a, v)
	} else {
		t.VADDPD(constantAt(i), a, v)
	}
}

// mulConstant is v = a * c_i.
func (t *tier) mulConstant(i int, a, v reg.VecVirtual) {
	if t.wide {
		t.VMULPD_BCST(constantAt(i), a, v)
	} else {
		t.VMULPD(constantAt(i), a, v)
	}
}

// subConstant is v = a - c_i.
func (t *tier) subConstant(i int, a, v reg.VecVirtual) {
	if t.wide {
		t.VSUBPD_BCST(constantAt(i), a, v)
	} else {
		t.VSUBPD(constantAt(i), a, v)
	}
}

// fmaConstant is acc += a * c_i.
func (t *tier) fmaConstant(acc, a reg.VecVirtual, i int) {
	if t.wide {
		t.VFMADD231PD_BCST(constantAt(i), a, acc)
	} else {
		t.VFMADD231PD(constantAt(i), a, acc)
	}
}

// fmsConstant is acc = a * c_i - acc.
func (t *tier) fmsConstant(acc, a reg.VecVirtual, i int) {
	if t.wide {
		t.VFMSUB231PD_BCST(constantAt(i), a, acc)
	} else {
		t.VFMSUB231PD(constantAt(i), a, acc)
	}
}
