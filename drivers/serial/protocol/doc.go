// Package protocol says what a protocol over a line of bytes is, and holds what all of them
// have in common: channels with their scale and limits, time-outs, the open line with what
// came unasked, when a call gives way to a safe value, and which errors put the two sides in
// doubt.
package protocol
