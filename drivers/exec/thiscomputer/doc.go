// Package thiscomputer is an instrument that every computer has: the computer
// itself, compressing text in memory. Its knobs are those of a real job, its
// readings are measured while the job runs, so they are as noisy as the machine
// is busy.
//
//	level       rw  1   effort of the compressor, a whole number from 1 to 9
//	block       rw  KiB size of the pieces that are compressed independently, whole, 4 to 1024
//	workers     rw  1   goroutines that compress at the same time, whole, 1 to 8
//	throughput  r   MB/s input compressed per second, 1 MB = 10^6 bytes
//	ratio       r   1   size of the input over the size of the output
//
// A Read that asks for throughput or ratio runs one job of 1.5 MiB; both then
// come from that job. A Read of knobs alone runs nothing.
//
// What pulls which way: effort buys ratio with time; large pieces compress better,
// until there are too few of them to keep all workers busy; more workers than
// processors compete for them and for the cache.
package thiscomputer
