// Package modbus speaks to instruments that keep their values in registers: frames, types and
// byte orders of registers, and the exchange of a request and its answer over a serial line
// (RTU). The other side, which serves a device, is here too.
package modbus
