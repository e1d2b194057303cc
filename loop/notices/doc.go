// Package notices tells people that something has happened to a run: a [Sender] hands a
// [Notice] to a webhook or to a command.
//
// Put never waits. Of each kind of notice the newest waits, with how many it stands for; one
// goroutine delivers them, one at a time, of each kind at most one in Options.Every, and tries again what
// could not be delivered for as long as the run lasts. So memory is bounded, and whatever a
// server does the loop is not in it.
package notices
