// Package serial makes an instrument of what answers on a serial port, here or on the network.
//
// # Words
//
// A description says what to send for a value and what comes back, in a TOML file.
// A profile is a ready description. An exchange is a command and its answer; a greeting
// is what every connection begins with: it spoils a command that was left half-written,
// waits for silence, asks who answers and prepares the instrument.
//
//	serial.Device        the drivers' contract; connects, reconnects with growing waits
//	  text, modbus       protocols: lines of text, Atlas Scientific's with codes; Modbus RTU and TCP
//	    protocol         what a protocol is, and what all have in common: channels, time-outs,
//	                     an open line, when to give way, which errors put both sides in doubt
//	      port           one goroutine that owns the descriptor, with deadlines; openers: the kernel's
//	                     ports, TCP, serial servers by RFC 2217
//
// Each package has the keys of the file that it acts on; [Options] is all of them.
//
// # In step
//
// Most serial protocols do not number their answers, so an answer that comes late
// can be taken for the answer to the next question. After anything but a perfect
// exchange (silence, a cut or damaged line, more than was asked for, a call that was
// called off) the two sides are in doubt, and nothing is asked before they have
// found together by a new greeting. Instruments answer in order: after the answer
// to the identifying question no earlier one can come, provided that no earlier
// question for the identity is open. Without such a question, and where one is
// open, a silence must do, and an instrument that is later than that silence
// deceives any driver. Over the network a new connection is made instead: an answer that is late
// ends with the old one. Behind it there may be a line all the same, so that it is greeted like any.
//
// # Once
//
// A question may be repeated, a command only where the file declares it
// idempotent: when its answer is lost, nobody knows whether it was carried out.
// Halt repeats safe values and releases all the same; being safe twice does no
// harm.
//
// # Two directions
//
// [Serve] is the other side of a description: the instrument, on a
// pseudo-terminal or listening on the network, over any device of package drivers. What a template reads it
// writes, and the other way round.
package serial
