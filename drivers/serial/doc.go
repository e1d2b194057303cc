// Package serial makes an instrument of what answers on a serial port.
//
// # Words
//
// A description says what to send for a value and what comes back, in a TOML file.
// A template is a line with a conversion for the value, such as "M 1 %.3f"; one
// template writes a line and reads it. A profile is a ready description. An
// exchange is a command and its answer; a greeting is what every connection begins
// with: it spoils a command that was left half-written, waits for silence, asks who
// answers and prepares the instrument. A talker is a protocol: lines of text,
// Atlas Scientific's lines with codes, or Modbus RTU.
//
//	Device            the drivers' contract; connects, reconnects with growing waits
//	  talker          what is said: lines, modbus
//	    line          what a line is: terminators, timeouts, silence
//	      port        one goroutine that owns the descriptor, with deadlines
//	        RawPort   the kernel's port, or a test's
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
// deceives any driver.
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
// pseudo-terminal, over any device of package drivers. What a template reads it
// writes, and the other way round.
package serial
