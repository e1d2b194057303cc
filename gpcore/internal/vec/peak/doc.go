// Package peak holds the yardstick of the benchmarks of package vec: loops that do
// nothing but multiply-adds between registers, one per instruction set. Only tests
// import it.
package peak
