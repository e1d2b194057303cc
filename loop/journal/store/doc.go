// Package store is the SQLite file that a journal is: how it is opened, the rows of its
// tables, each of which is compared with its checksum when it is read ([File.Scan], [Cells]),
// what makes a file sound ([File.Verify]), the one connection that writes rows ([Writer]), and what
// SQLite's errors mean for who keeps the file ([Fault]). It knows tables and rows, of package schema, and no run.
package store
