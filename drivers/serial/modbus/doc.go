// Package modbus speaks to instruments that keep their values in registers and coils. A
// request and its answer are the same over a serial line (RTU) and over TCP; a framing says how
// they travel. Types and byte orders of registers are here, and the other side, which serves a
// device.
package modbus
