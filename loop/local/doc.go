// Package local is the way to a run from its own computer: a Unix socket for each run, in a
// folder that its user owns.
//
//	FOLDER/NAME-HASH.sock    HTTP and JSON, the requests of loop/web
//
// NAME is the run's name, at most 32 bytes of it, and HASH eight digits of the SHA-256 of the
// journal's absolute path. One process at a time has a journal, so one process at a time has
// the name of a socket. There is no token: the mode of the file decides who may connect
// (0600, or 0660 with an owner and a group of one's own), and the kernel says who has
// (SO_PEERCRED).
//
// A socket appears under its name when it is being listened to, never before: one that
// refuses a connection was left by a process that was killed. The next start of any run of
// that user removes it. Both happen under a lock of the folder, so that nobody removes what
// another process has just put there. The name of a socket is at most 107 bytes long for the
// kernel (sun_path); where the folder's path is longer, it is reached through /proc/self/fd.
//
// The folder holds nothing else. What a run keeps (journal, control state) lies in its state
// folder and stays.
package local
