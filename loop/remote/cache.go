package remote

import (
	"slices"

	"github.com/labtuner/tuner/loop/control"
	"github.com/labtuner/tuner/loop/journal/controlstate"
)

// cacheMax is how many transactions are remembered. Not fewer: a sender that has lost its
// connection repeats what it sent in the last minutes. Not more: all of them are written
// with every change of the control state.
const cacheMax = 1000

// commandCache remembers the answers to commands, so that a repeat does not act again, and the
// last number of each key.
type commandCache struct {
	answers map[string]remembered // by transaction
	order   []string              // oldest first
	seqs    map[string]controlstate.CommandSeq
}

// remembered is what is known of a transaction.
type remembered struct {
	command string
	// pending says that it is still being carried out.
	pending bool
	answer  Answer
}

func newCommandCache(kept controlstate.CommandMemory) *commandCache {
	m := &commandCache{answers: map[string]remembered{}, seqs: map[string]controlstate.CommandSeq{}}
	for _, a := range kept.Answers {
		m.remember(a.Transaction, remembered{command: a.Command, answer: Answer{Answer: control.Answer{Transaction: a.Transaction,
			Command: a.Command, OK: a.Code == codeOK, Code: a.Code, Message: "answered before the tuner was started again"}}})
	}
	for _, s := range kept.Seqs {
		m.seqs[s.Key] = s
	}
	return m
}

// remember keeps r; the oldest transaction goes when there are too many.
func (m *commandCache) remember(transaction string, r remembered) {
	if _, there := m.answers[transaction]; !there {
		m.order = append(m.order, transaction)
	}
	m.answers[transaction] = r
	for len(m.order) > cacheMax {
		delete(m.answers, m.order[0])
		m.order = slices.Delete(m.order, 0, 1)
	}
}

// fresh says that seq is above the last one of a key in this session; the first is 1.
func (m *commandCache) fresh(key, session string, seq uint64) bool {
	last := m.seqs[key]
	return seq > 0 && (last.Session != session || seq > last.Seq)
}

// snapshot is what is to be durable: a copy that does not change.
func (m *commandCache) snapshot() *controlstate.CommandMemory {
	out := &controlstate.CommandMemory{}
	for _, t := range m.order {
		if r := m.answers[t]; !r.pending {
			out.Answers = append(out.Answers, controlstate.CommandID{Transaction: t, Command: r.command, Code: r.answer.Code})
		}
	}
	for _, s := range m.seqs {
		out.Seqs = append(out.Seqs, s)
	}
	slices.SortFunc(out.Seqs, func(a, b controlstate.CommandSeq) int {
		if a.Key < b.Key {
			return -1
		}
		return 1
	})
	return out
}
