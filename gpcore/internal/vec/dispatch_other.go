//go:build purego || (!amd64 && !arm64 && !arm)

package vec

// There is only the reference.

func tile(out, w []float64, ldw int, b []float64, k int)        { tileRef(out, w, ldw, b, k) }
func tileSquares(sum, w []float64, ldw int, b []float64, k int) { tileSquaresRef(sum, w, ldw, b, k) }
func tileT(out, w []float64, ldw int, b []float64, k int)       { tileTRef(out, w, ldw, b, k) }
func dot(x, y []float64) float64                                { return dotRef(x, y) }
func dots8(l, w []float64, ldw int, x []float64)                { dots8Ref(l, w, ldw, x) }
func axpy(y []float64, a float64, x []float64)                  { axpyRef(y, a, x) }
func axpys8(y, w []float64, ldw int, l []float64)               { axpys8Ref(y, w, ldw, l) }
func rotate(t, dst, src []float64, ld int, cs []float64)        { rotateRef(t, dst, src, ld, cs) }
func rankOne(z, w []float64, ld int, abg []float64)             { rankOneRef(z, w, ld, abg) }
func combine(sum, weights, panel []float64)                     { combineRef(sum, weights, panel) }
func addSquares(sum, panel []float64, n int)                    { addSquaresRef(sum, panel, n) }
func multiply(dst, src []float64)                               { multiplyRef(dst, src) }
func moments(g, s []float64, p *Pairs)                          { momentsRef(g, s, p) }
func fillPanel(f function, p *Pairs)                            { p.fillRef(f) }
func waves(sum []float64, w *Waves, lanes []float64)            { wavesRef(sum, w, lanes) }

func accelerated() []Tier { return nil }

func powers(q, low *row) { q.exp2(low) }
