// Package cost says before a step what it will cost: by its control set, its setting and
// its movement ([Model]); what control sets cost may be learnt from readings ([Model.Learn]). [Ledger] keeps what was spent of a budget, to the last decimal of
// the file's numbers. Settings that the rest cannot pay are penalised in a search, and
// replaced by one that can be paid ([Model.Payable]).
package cost
