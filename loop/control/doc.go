// Package control is what the world outside of the loop's goroutine has of a run: a
// [Panel] takes commands in, and gives out the [Status], events, concluded steps and
// pictures of the model. Transports (MQTT, the dashboard, the local socket) know this
// package and not the loop.
//
//	transport ── Do(Request) ──> queue ──> loop: recorded, acts, answered ──> Response
//	transport <── Status, Subscription, Picture <── loop, which never waits for a reader
//
// Everything given out is immutable, or a ring of bounded size.
//
// What a run looks like from outside has one type each, and every way out takes its numbers from
// it: [Run] is what it is and in which units, [Status] how it stands, [Step] what a step came to,
// [Result] what the run came to.
//
//	what    as it stands                                       in part
//	Run     export, dump ("run" line)                          page
//	Status  MQTT state, socket, page, tuner status, --json     MQTT telemetry, metrics, terminal
//	Step    --json, export, dump                               page, MQTT event, Status.Outcome
//	Result  --json, journal, export, dump, page                terminal (the report in words)
//
// Programs of users read names that grew one way out at a time; these stay:
//
//	member                   page                         status, MQTT event    result
//	Run.Seed                 seed, as text
//	Run.Objective            objective, unit              objective (an object)
//	Run.ID                   id                           run
//	Step.N                   n                            step
//	Step.Variance            sd, its square root
//	Step.StandardError       se                           standard_error
//	Step.DecisionMS          took_ms
//	Step.Requested, Applied  a list in Run's order        decision: a list
//	RecommendedStatus.Bound                               bound                 lower_bound
//	RecommendedStatus.Values                              values, a list        recommended, by name
package control
