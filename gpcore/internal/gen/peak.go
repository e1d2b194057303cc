package main

// chains is the number of independent accumulators of the peak loops: enough to
// hide the latency of two pipelined multiply-adds at a time.
const chains = 12

// peak writes a loop of multiply-adds between registers: the yardstick of the
// benchmarks. Each of the n rounds does 12 multiply-adds of a whole vector.
func (t *tier) peak() {
	t.begin("peak", "n int", "does n rounds of 12 multiply-adds between registers; n > 0.")
	n := t.param("n")
	acc := t.vectors(chains)
	x, y := t.vector(), t.vector()
	t.clear(acc...)
	t.clear(x, y)
	t.repeat(n, func() {
		for _, a := range acc {
			t.VFMADD231PD(x, y, a)
		}
	})
	t.end()
}

func (a *neon) peak() {
	a.begin("peak", "does n rounds of 12 multiply-adds between registers; n > 0.", "", "n int")
	for i := range v(chains + 2) {
		a.clear(i)
	}
	a.repeat(0, func() {
		for i := range v(chains) {
			a.fma(i, chains, chains+1)
		}
	})
	a.end()
}
