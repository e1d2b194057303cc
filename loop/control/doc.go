// Package control is what the world outside of the loop's goroutine has of a run: a
// [Panel] takes commands in, and gives out the [Status], events, concluded steps and
// pictures of the model. Transports (MQTT, the dashboard, the local socket) know this
// package and not the loop.
//
//	transport ── Do(Request) ──> queue ──> loop: recorded, acts, answered ──> Response
//	transport <── Status, Subscription, Picture <── loop, which never waits for a reader
//
// Everything given out is immutable, or a ring of bounded size.
package control
