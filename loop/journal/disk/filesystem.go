package disk

// FileSystem is what a journal must know of the place it lies in.
type FileSystem struct {
	// Name is the kind, such as "nfs", as far as it is known.
	Name string
	// SharedMemory says that processes can share a mapped file there, which WAL
	// needs: not over a network, and not on file systems run by a user's process.
	SharedMemory bool
}
