// Package drift follows an objective that changes with time, in phases: a search of the
// whole domain, then small steps around the incumbent, until a jump or a hold that is no
// better than chance begins a new search. [Tracker] is the state machine; it is given the
// readings and what the model says of them, and answers which phase a step belongs to and
// where its settings may lie. The kernel of time is the model's.
package drift
