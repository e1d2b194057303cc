package controlstate

// CommandMemory is what a process knows of commands that the next one should: which
// transactions were answered, oldest first, and the last number of each signing key.
type CommandMemory struct {
	Answers []CommandID  `json:"answers,omitempty"`
	Seqs    []CommandSeq `json:"seqs,omitempty"`
}

// CommandID is a transaction that was answered, with the answer's code.
type CommandID struct {
	Transaction string `json:"t"`
	Command     string `json:"c"`
	Code        string `json:"k"`
}

// CommandSeq is the last number that a key has signed with, and in which session.
type CommandSeq struct {
	Key     string `json:"key"`
	Session string `json:"session"`
	Seq     uint64 `json:"seq"`
}
