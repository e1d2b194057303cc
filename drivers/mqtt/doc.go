// Package mqtt makes an instrument of topics on an MQTT 3.1.1 broker.
//
// # Words
//
// A reading is a message on a channel's read topic; a setpoint is a message on
// its write topic; a release lets go of the channel. A session is the time from
// Open to Close, under its own identifier; seq numbers its setpoints and
// releases from 1. A link is what keeps a connection to the broker; a
// connection that breaks is replaced by a new one, never mended.
//
// # Messages
//
// A reading is a number, or a JSON value in which path finds one: keys and
// array indices, as in "tank.probes[0].ph". Numbers are decimal and finite. A
// message that does not hold such a number is no data for the channel. A
// retained reading was sent by someone at some time: it is not taken as a
// measurement, and the channel has no value until the next message comes.
//
// Setpoints and releases go out with quality of service 0, not retained:
//
//	{"value":120,"seq":7,"ttl_ms":30000,"session":"5f1c0a9be2d34c17","sent_ms":81250}
//	{"release":true,"seq":8,"ttl_ms":30000,"session":"5f1c0a9be2d34c17","sent_ms":94100}
//
// The receiver ignores one that is retained, one that is older than ttl_ms, and
// one whose seq is not above the last of its channel and session. It confirms by
// the read topic, and on a confirm topic where the file names one: there it says
// "session" and "seq" of the last one that was taken, "released":true while the
// channel is released, and "error" where it was refused. A reading that is a JSON
// object may say the same.
//
// The age of a message cannot be known with another clock. But sent_ms, the time
// since the session began, shows how much longer it took than the fastest one:
// see pace.
//
// A device with messages of its own gets them by a template, and is described by a preset or by
// the file; its readings are then the only confirmation (underway.go). It may be asked for its
// readings (poll.go), and say when it took them (age.go).
//
// # Never a stale setpoint
//
// The client library keeps messages for the next connection in several places
// (its store, and a channel that outlives the connection). Therefore a link
// makes a new client for every connection, and Write hands its messages to the
// client of the connection that is up: they die with it. A Write that cannot
// tell whether its message left breaks the connection, so that the message
// cannot leave later.
package mqtt
