// Package text speaks to instruments in lines of text, as a description in the file says:
// a command with an answer or without, a terminator, an error queue as SCPI has it, or the
// codes with which Atlas Scientific's circuits end an answer.
//
// A template is a line with a conversion for the value, such as "M 1 %.3f"; one template
// writes a line and reads it. What does not match in whole is no answer, and never a value.
// The other side of a description, which answers what the driver asks, is here too.
package text
