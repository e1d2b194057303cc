// Package disk is what the record of a run and its control state ask of the disk: one process
// has a file (Lock), a file is still the one that was opened (FileID), an entry of a folder is
// durable (SyncFolder), what kind of file system a path lies in (Locate) and how much room it
// has (FreeSpace). Error says which file cannot be used, why, and what to do next.
package disk
