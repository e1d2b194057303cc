package main

import (
	"bytes"
	"fmt"
	"strings"
)

// vfp writes Go assembly for 32-bit ARM with VFPv4, which has a fused multiply-add of one float64 at
// a time and no vectors of them. Compiled Go asks at each one whether the processor has it, and keeps
// what it holds in memory for the case that it has not; these loops ask once, before. What takes no
// part in a decision to speak of is left to the reference.
//
// Arguments come in R0, R1, ...; R10 and R13 to R15 are Go's, R11 is the assembler's.
type vfp struct {
	code, stubs bytes.Buffer
	labels      int
}

const vfpSums = 8 // F0 to F7

func newVFP() *vfp {
	a := &vfp{}
	a.code.WriteString(header + "#include \"textflag.h\"\n")
	a.stubs.WriteString(header + "package vec\n")
	return a
}

func (a *vfp) emit() {
	a.tile(false)
	a.tile(true)
	a.combine()
	a.addSquares()
	a.dot()
	a.axpys8()
	a.rotate4()
	a.powers()
}

// begin opens a function of 4-byte parameters, each "name type".
func (a *vfp) begin(name, doc, result string, params ...string) {
	name += "VFPv4"
	size := 4 * len(params)
	if result != "" {
		size += 8
		result = " (" + result + ")"
	}
	signature := "(" + strings.Join(params, ", ") + ")" + result
	fmt.Fprintf(&a.stubs, "\n// %s %s\n//\n//go:noescape\nfunc %s%s\n", name, doc, name, signature)
	fmt.Fprintf(&a.code, "\n// func %s%s\nTEXT ·%s(SB), NOSPLIT, $0-%d\n", name, signature, name, size)
	a.labels = 0
	for i, p := range params {
		n, _, _ := strings.Cut(p, " ")
		a.op("MOVW %s+%d(FP), R%d", n, 4*i, i)
	}
}

func (a *vfp) op(format string, args ...any) {
	fmt.Fprintf(&a.code, "\t"+format+"\n", args...)
}

func (a *vfp) label(stem string) string {
	a.labels++
	return fmt.Sprintf("%s%d", stem, a.labels)
}

func (a *vfp) place(label string) { fmt.Fprintf(&a.code, "\n%s:\n", label) }

// repeat runs body as often as the register says, at least once; it is used up.
func (a *vfp) repeat(count string, body func()) {
	l := a.label("loop")
	a.place(l)
	body()
	a.op("SUB.S $1, %s", count)
	a.op("BNE %s", l)
}

// clear sets the sums to +0.
func (a *vfp) clear() {
	a.op("MOVD $1.0, F0")
	a.op("SUBD F0, F0, F0")
	for i := 1; i < vfpSums; i++ {
		a.op("MOVD F0, F%d", i)
	}
}

// load reads n numbers from an address on into registers from f on, store writes them.
func (a *vfp) load(address string, offset, f, n int) {
	for i := range n {
		a.op("MOVD %d(%s), F%d", offset+8*i, address, f+i)
	}
}

func (a *vfp) store(address string, offset, f, n int) {
	for i := range n {
		a.op("MOVD F%d, %d(%s)", f+i, offset+8*i, address)
	}
}

// fma adds x*y to sum.
func (a *vfp) fma(x, y, sum int) { a.op("FMULAD F%d, F%d, F%d", x, y, sum) }

// tile writes an 8 x 24 product as 24 blocks of 2 x 4: sums in F0 to F7, two of w in F8 and F9, four of b
// in F10 to F13.
func (a *vfp) tile(transposed bool) {
	name, of := "tile", "an 8 x 24 tile product"
	if transposed {
		name, of = "tileT", "an 8 x 24 product with a transposed tile"
	}
	a.begin(name, "stores "+of+"; k > 0.", "", "out *float64", "w *float64", "ldw int", "b *float64", "k int")
	a.op("MOVW R2<<3, R2")
	a.op("MOVW $4, R5")
	a.repeat("R5", func() {
		a.op("MOVW $6, R6")
		a.repeat("R6", func() {
			a.clear()
			a.op("MOVW R1, R7")
			if !transposed {
				a.op("ADD R2, R1, R8")
			}
			a.op("MOVW R3, R9")
			a.op("MOVW R4, R12")
			a.repeat("R12", func() { a.tileTerm(transposed) })
			a.store("R0", 0, 0, 4)
			a.store("R0", rowBytes, 4, 4)
			a.op("ADD $32, R0")
			a.op("ADD $32, R3")
		})
		a.op("ADD $%d, R0", rowBytes)
		a.op("SUB $%d, R3", rowBytes)
		if transposed {
			a.op("ADD $16, R1")
		} else {
			a.op("ADD R2<<1, R1")
		}
	})
	a.op("RET")
}

// tileTerm adds one term to each sum of a block.
func (a *vfp) tileTerm(transposed bool) {
	a.load("R9", 0, 10, 4)
	if transposed {
		a.load("R7", 0, 8, 2)
		a.op("ADD R2, R7")
	} else {
		a.load("R7", 0, 8, 1)
		a.load("R8", 0, 9, 1)
		a.op("ADD $8, R7")
		a.op("ADD $8, R8")
	}
	a.op("ADD $%d, R9", rowBytes)
	for i := range vfpSums {
		a.fma(8+i/4, 10+i%4, i)
	}
}

// thirds runs body for eight lanes of three; it finds their sums' address in R0, and the panel's
// in R9, with n in R12, both of which it may change.
func (a *vfp) thirds(panel, n string, body func()) {
	a.op("MOVW $3, R5")
	a.repeat("R5", func() {
		a.op("MOVW %s, R9", panel)
		a.op("MOVW %s, R12", n)
		body()
		a.store("R0", 0, 0, vfpSums)
		a.op("ADD $64, R0")
		a.op("ADD $64, %s", panel)
	})
	a.op("RET")
}

func (a *vfp) combine() {
	a.begin("combine", "sums the rows of a panel with weights; n > 0.", "", "sum *float64", "weights *float64", "panel *float64", "n int")
	a.thirds("R2", "R3", func() {
		a.clear()
		a.op("MOVW R1, R7")
		a.repeat("R12", func() {
			a.load("R7", 0, 8, 1)
			a.op("ADD $8, R7")
			for i := range vfpSums {
				a.load("R9", 8*i, 9+i%4, 1)
				a.fma(8, 9+i%4, i)
			}
			a.op("ADD $%d, R9", rowBytes)
		})
	})
}

func (a *vfp) addSquares() {
	a.begin("addSquares", "adds the squares of the rows of a panel; n > 0.", "", "sum *float64", "panel *float64", "n int")
	a.thirds("R1", "R2", func() {
		a.load("R0", 0, 0, vfpSums)
		a.repeat("R12", func() {
			for i := range vfpSums {
				a.load("R9", 8*i, 9+i%4, 1)
				a.fma(9+i%4, 9+i%4, i)
			}
			a.op("ADD $%d, R9", rowBytes)
		})
	})
}

func (a *vfp) dot() {
	a.begin("dot", "is the sum of products by eight partial sums; n > 0.", "sum float64", "x *float64", "y *float64", "n int")
	tail, done := a.label("tail"), a.label("done")
	a.clear()
	a.op("MOVW R2>>3, R3")
	a.op("CMP $0, R3")
	a.op("BEQ %s", tail)
	a.repeat("R3", func() {
		for i := range vfpSums {
			f := 8 + 2*(i%4)
			a.load("R0", 8*i, f, 1)
			a.load("R1", 8*i, f+1, 1)
			a.fma(f, f+1, i)
		}
		a.op("ADD $64, R0")
		a.op("ADD $64, R1")
	})
	a.place(tail)
	a.op("AND $7, R2")
	for i := range vfpSums - 1 {
		a.op("CMP $%d, R2", i)
		a.op("BEQ %s", done)
		a.load("R0", 8*i, 8, 1)
		a.load("R1", 8*i, 9, 1)
		a.fma(8, 9, i)
	}
	a.place(done)
	for step := 1; step < vfpSums; step *= 2 {
		for i := 0; i < vfpSums; i += 2 * step {
			a.op("ADDD F%d, F%d, F%d", i+step, i, i)
		}
	}
	a.op("MOVD F0, sum+12(FP)")
	a.op("RET")
}

// axpys8 takes two columns at a time, then the last one: coefficients in F0 to F7, the two chains in F8
// and F9.
func (a *vfp) axpys8() {
	a.begin("axpys8", "adds a combination of eight rows; n > 0.", "", "y *float64", "w *float64", "ldw int", "l *float64", "n int")
	rows := [...]string{"R1", "R3", "R5", "R6", "R7", "R8", "R9", "R12"}
	single, done := a.label("single"), a.label("done")
	a.load("R3", 0, 0, 8)
	a.op("MOVW R2<<3, R2")
	for i := 1; i < len(rows); i++ {
		a.op("ADD R2, %s, %s", rows[i-1], rows[i])
	}
	column := func(offset int) {
		a.load("R0", offset, 8, 1)
		for i := range 4 {
			a.load(rows[i], offset, 10, 1)
			a.load(rows[i+4], offset, 11, 1)
			a.fma(i, 10, 8)
			if i == 0 {
				a.op("MULD F4, F11, F9")
			} else {
				a.fma(i+4, 11, 9)
			}
		}
		a.op("ADDD F9, F8, F8")
		a.store("R0", offset, 8, 1)
	}
	a.op("MOVW R4>>1, R2")
	a.op("CMP $0, R2")
	a.op("BEQ %s", single)
	a.repeat("R2", func() {
		column(0)
		column(8)
		for _, r := range append([]string{"R0"}, rows[:]...) {
			a.op("ADD $16, %s", r)
		}
	})
	a.place(single)
	a.op("AND.S $1, R4")
	a.op("BEQ %s", done)
	column(0)
	a.place(done)
	a.op("RET")
}

// rotate4 has cosines and sines in F0 to F7, and t in F8 and F9 in turn.
func (a *vfp) rotate4() {
	a.begin("rotate4", "carries t through four rows; n > 0.", "", "t *float64", "dst *float64", "src *float64", "ld int", "cs *float64", "n int")
	to := [...]string{"R1", "R6", "R7", "R8"}
	from := [...]string{"R2", "R9", "R12", "R4"}
	a.load("R4", 0, 0, 8)
	a.op("MOVW R3<<3, R3")
	for i := 1; i < 4; i++ {
		a.op("ADD R3, %s, %s", to[i-1], to[i])
		a.op("ADD R3, %s, %s", from[i-1], from[i])
	}
	a.repeat("R5", func() {
		a.load("R0", 0, 8, 1)
		t, next := 8, 9
		for i := range 4 {
			c, s := 2*i, 2*i+1
			a.load(from[i], 0, 10, 1)
			a.op("MULD F%d, F10, F11", s)
			a.op("MULD F%d, F10, F%d", c, next)
			a.op("FMULSD F%d, F%d, F11", c, t)
			a.fma(s, t, next)
			a.store(to[i], 0, 11, 1)
			t, next = next, t
		}
		a.store("R0", 0, t, 1)
		for _, r := range append([]string{"R0"}, append(to[:], from[:]...)...) {
			a.op("ADD $8, %s", r)
		}
	})
	a.op("RET")
}

// powers takes four lanes at a time: what is left of the arguments in F0 to F3, polynomials in F4 to F7
// and F8 to F11 in turn, the number that rounds in F15. The integers wait where the results go.
func (a *vfp) powers() {
	a.begin("powers", "replaces 24 q by two to them and low; coefficients are ascending, then the number that rounds.", "",
		"q *float64", "low *float64", "coefficients *float64")
	const degree = 11
	a.load("R2", 8*(degree+1), 15, 1)
	a.op("MOVW $0, R4")
	a.op("MOVW $6, R3")
	a.repeat("R3", func() {
		a.load("R0", 0, 0, 4)
		for i := range 4 {
			a.op("ADDD F15, F%d, F%d", i, 4+i)
		}
		a.store("R0", 0, 4, 4)
		a.load("R1", 0, 8, 4)
		for i := range 4 {
			a.op("SUBD F15, F%d, F%d", 4+i, 4+i)
		}
		for i := range 4 {
			a.op("SUBD F%d, F%d, F%d", 4+i, i, i)
		}
		for i := range 4 {
			a.op("ADDD F%d, F%d, F%d", 8+i, i, i)
		}
		from, to := 4, 8
		a.load("R2", 8*degree, from, 1)
		for i := 1; i < 4; i++ {
			a.op("MOVD F%d, F%d", from, from+i)
		}
		for c := degree - 1; c >= 0; c-- {
			a.load("R2", 8*c, to, 1)
			for i := 1; i < 4; i++ {
				a.op("MOVD F%d, F%d", to, to+i)
			}
			for i := range 4 {
				a.fma(from+i, i, to+i)
			}
			from, to = to, from
		}
		for i := range 4 {
			a.op("MOVW %d(R0), R5", 8*i)
			a.op("ADD $1023, R5")
			a.op("MOVW R5<<20, R5")
			a.op("MOVW R4, %d(R0)", 8*i)
			a.op("MOVW R5, %d(R0)", 8*i+4)
			a.load("R0", 8*i, to, 1)
			a.op("MULD F%d, F%d, F%d", to, from+i, from+i)
		}
		a.store("R0", 0, from, 4)
		a.op("ADD $32, R0")
		a.op("ADD $32, R1")
	})
	a.op("RET")
}
