// Package remote is the tuner's side of a broker: it publishes a run's status over MQTT and
// takes commands for it.
//
// # Words
//
// A topic is TREE/LEAF, and every tree is tuner/SITE/NAME. A command is a message on
// TREE/cmd/COMMAND; its answer goes to TREE/resp/COMMAND. A session is this process's run,
// by a random name that dies with it; a transaction is the sender's name for one command.
// A refusal is an answer that something kept from acting, with a code for programs and
// words for people.
//
//	broker ──> Urgent (stop) ───────────────> stop worker ────┐
//	       ──> Handle: judge, then queue ───> command worker ──> loop.Panel.Do
//	broker <── Run: status, state, telemetry, events, answers <── loop.Panel
//
// # What a command must pass
//
// In this order: not retained; at most 4 KiB; a command that there is; ten a second for all
// of them; its signature, where keys are configured; a strict JSON object; not a repeat
// (which gets the answer of the first time, and does not act); of this session; not
// expired; its number above the last one of its key. A stop passes all of that more
// easily: see Remote.Urgent.
//
// Nothing here makes the loop wait: what comes in waits in bounded queues, and so does what
// goes out.
//
// # Errors
//
// Refusals are answers, recorded by the panel's journal. Trouble with the broker is logged in
// the log, and the run goes on without it.
package remote
