// Package trace records the inputs and outputs of the safety layer, tick by tick,
// and derives every verdict from that record again.
//
// A session's trace begins with its limits and with what it was booted from ([Start]);
// what follows comes in pieces of about a minute. A piece is DEFLATE of a list of ticks,
// each as often as it was repeated:
//
//	repeat: uvarint
//	readings: uvarint, then for each: sensor*4+verdict, time, value
//	changed words: uvarint, then for each: places since the last one, time or value
//
// Only words that changed since the tick before are there, times as differences and
// values as the bytes that differ. A piece begins from zeros, so each can be read alone.
// Times are whole milliseconds ([Round]). The journal's table and messages call a trace
// tape: names on disk stay.
package trace
