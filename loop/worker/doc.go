// Package worker carries jobs that may block away from the goroutine that owns a state.
//
// A job is posted to a worker; jobs of one worker run one after the other, in order. What a
// job returns comes back as a [Result] under the [Ticket] that Post gave, and the owner
// takes results one by one, so nothing of its state is touched from elsewhere.
//
//	       Post(worker, job)
//	owner ────────────────> worker 0, worker 1, ... each a goroutine
//	owner <──────────────── results, in the order in which jobs ended
//	                        and what devices handed over by Put
//
// In virtual time there are no goroutines: Take runs the next job, in posting order, so
// the same posts give the same results.
package worker
