package main

import (
	"fmt"
	"go/token"
	"go/types"
	"strings"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/gotypes"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	laneCount = 24            // columns of a panel
	rowCount  = 8             // rows of a tile
	rowBytes  = 8 * laneCount // one row of a panel
)

// tier writes the kernels of one amd64 instruction set. The two differ in the
// width of a vector, the number of registers (32 or 16) and how the last
// elements of a row are treated: by a mask, or one by one.
type tier struct {
	*build.Context
	suffix string // of function names
	wide   bool   // 512-bit vectors, else 256-bit
	labels int    // given out in the current function
}

// width is the number of float64 in a vector, size their bytes.
func (t *tier) width() int {
	if t.wide {
		return 8
	}
	return 4
}

func (t *tier) size() int { return 8 * t.width() }

// begin opens a function; end closes it.
func (t *tier) begin(name, signature, doc string) {
	t.labels = 0
	name += t.suffix
	t.Function(name)
	t.Attributes(noSplit)
	t.Pragma("noescape")
	s, err := gotypes.ParseSignatureInPackage(vecTypes(), "func("+signature+")")
	if err != nil {
		panic("gen: " + name + ": " + err.Error())
	}
	t.Signature(s)
	t.Doc(name + " " + doc)
}

func (t *tier) end() {
	t.VZEROUPPER()
	t.RET()
}

// vecTypes is as much of package vec as the signatures name. The package itself
// cannot be loaded while its kernels are being written.
func vecTypes() *types.Package {
	p := types.NewPackage("vec", "vec")
	args := types.NewTypeName(token.NoPos, p, "pairArgs", nil)
	types.NewNamed(args, types.NewStruct(nil, nil), nil)
	p.Scope().Insert(args)
	return p
}

// label makes a label that is new in the current function.
func (t *tier) label(stem string) string {
	t.labels++
	return fmt.Sprintf("%s%d", stem, t.labels)
}

func (t *tier) jz(l string)  { t.JZ(operand.LabelRef(l)) }
func (t *tier) jnz(l string) { t.JNZ(operand.LabelRef(l)) }

// repeat runs body n times, n > 0; n is used up.
func (t *tier) repeat(n reg.GPVirtual, body func()) {
	l := t.label("loop")
	t.Label(l)
	body()
	t.DECQ(n)
	t.jnz(l)
}

// integer and pointer parameters
func (t *tier) param(name string) reg.GPVirtual {
	return t.Load(t.Param(name), t.GP64()).(reg.GPVirtual)
}

// bytes turns a stride in elements into bytes, in place.
func (t *tier) bytes(ld reg.GPVirtual) reg.GPVirtual {
	t.SHLQ(operand.Imm(3), ld)
	return ld
}

func (t *tier) copyOf(r reg.GPVirtual) reg.GPVirtual {
	c := t.GP64()
	t.MOVQ(r, c)
	return c
}

func (t *tier) constant(n int) reg.GPVirtual {
	c := t.GP64()
	t.MOVQ(operand.U64(n), c)
	return c
}

// advance adds n bytes to a pointer.
func (t *tier) advance(p reg.GPVirtual, n int) {
	if n != 0 {
		t.ADDQ(operand.I32(n), p)
	}
}

// vector is a new vector register.
func (t *tier) vector() reg.VecVirtual {
	if t.wide {
		return t.ZMM()
	}
	return t.YMM()
}

func (t *tier) vectors(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = t.vector()
	}
	return v
}

func (t *tier) clear(v ...reg.VecVirtual) {
	for _, r := range v {
		if t.wide {
			t.VPXORQ(r, r, r)
		} else {
			t.VXORPD(r, r, r)
		}
	}
}

func (t *tier) broadcast(m operand.Mem) reg.VecVirtual {
	v := t.vector()
	t.VBROADCASTSD(m, v)
	return v
}

// at is the memory at p + offset bytes.
func at(p reg.Register, offset int) operand.Mem { return operand.Mem{Base: p, Disp: offset} }

// rows addresses several rows of a matrix by its first row, its fifth and the
// single and triple stride.
type rows struct {
	base, fifth, ld, ld3 reg.GPVirtual
}

// matrix prepares n = 1, 4 or 8 rows from base, stride ld bytes.
func (t *tier) matrix(base, ld reg.GPVirtual, n int) rows {
	r := rows{base: base, ld: ld}
	if n > 1 {
		r.ld3 = t.GP64()
		t.LEAQ(operand.Mem{Base: ld, Index: ld, Scale: 2}, r.ld3)
	}
	if n > 4 {
		r.fifth = t.GP64()
		t.LEAQ(operand.Mem{Base: base, Index: ld, Scale: 4}, r.fifth)
	}
	return r
}

// row is the memory of row i, offset by some bytes.
func (r rows) row(i, offset int) operand.Mem {
	m := operand.Mem{Base: r.base, Disp: offset}
	if i >= 4 {
		m.Base = r.fifth
	}
	switch i % 4 {
	case 1:
		m.Index, m.Scale = r.ld, 1
	case 2:
		m.Index, m.Scale = r.ld, 2
	case 3:
		m.Index, m.Scale = r.ld3, 1
	}
	return m
}

// pointers are those that move when the columns advance.
func (r rows) pointers() []reg.GPVirtual {
	if r.fifth != nil {
		return []reg.GPVirtual{r.base, r.fifth}
	}
	return []reg.GPVirtual{r.base}
}

// title is a name with a capital letter.
func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
