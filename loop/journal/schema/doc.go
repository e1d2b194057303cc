// Package schema is what a journal's file looks like: the tables of each version, the view for
// people, the counts that rows keep of each other, the checksum of a row, and how Go's values
// are stored so that they come back as they went in. It reads and writes no file; package
// journal does, whose comment draws the tables and defines the checksum.
package schema
