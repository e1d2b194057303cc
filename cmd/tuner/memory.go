package main

// heapGrowth is by how much, in percent of what is live, the heap of a run grows before
// the collector runs. Go's own is 100. What is live are mostly the matrices of the model,
// set aside for as many observations as it may ever hold, and not yet touched: a percentage
// of them is tens of MB of rubbish. They hold no pointers, so that collecting is cheap.
const heapGrowth = 25

// runLean has the collector keep a run small, unless the user has said (GOGC) how it should.
func (e *env) runLean() {
	if said, ok := e.lookup("GOGC"); ok && said != "" || e.collect == nil {
		return
	}
	e.collect(heapGrowth)
}
