package journal

import (
	"database/sql"
	"iter"

	"github.com/labtuner/tuner/loop/journal/schema"
	"github.com/labtuner/tuner/loop/journal/store"
)

// Command is what a person or a program asked of a running loop.
type Command struct {
	// Name is the command, as in "pause". Who asked, as far as the transport can tell, and
	// Transport is the way it came: "mqtt", "web", "signal" or "cli".
	Name, Who, Transport string
	// Transaction is the sender's name for it; Args its arguments as JSON, "" without.
	Transaction, Args string
	At                Stamp
}

// Answer is what came of a command.
type Answer struct {
	OK bool
	// Code is one word for programs, Message the same for people.
	Code, Message string
	At            Stamp
}

// CommandRecord is a command with its answer, nil where none was recorded: the process
// ended before, and nobody knows whether the command acted.
type CommandRecord struct {
	ID int64
	Command
	Answer *Answer
}

// Order records a command before it acts, and gives its number.
func (j *Journal) Order(c Command) (id int64, err error) {
	if err := tellable(j); err != nil {
		return 0, err
	}
	err = j.commit("command "+c.Name, store.RowOf("command", j.stamped(c.At, schema.Integer(j.commands+1), schema.Text(c.Name), schema.Text(c.Who),
		schema.Text(c.Transport), schema.Text(c.Transaction), schema.Text(c.Args))...))
	if err != nil {
		return 0, err
	}
	j.commands++
	return j.commands, nil
}

// Ordered records a command that has acted, or was refused, with its answer.
func (j *Journal) Ordered(c Command, a Answer) error {
	return j.Together("command "+c.Name, func() error {
		id, err := j.Order(c)
		if err != nil {
			return err
		}
		return j.Answer(id, a)
	})
}

// Answer records what came of the command id, once.
func (j *Journal) Answer(id int64, a Answer) error {
	if err := tellable(j); err != nil {
		return err
	}
	if id < 1 || id > j.commands {
		return j.refuse("there is no command %d to answer, the last is %d", id, j.commands)
	}
	return j.commit("the answer to a command",
		store.RowOf("command_answer", j.stamped(a.At, schema.Integer(id), schema.Boolean(a.OK), schema.Text(a.Code), schema.Text(a.Message))...))
}

// Commands gives every command with its answer, oldest first.
func (r *Reader) Commands() iter.Seq2[CommandRecord, error] {
	return store.InPieces(r.loadCommands)
}

func (r *Reader) loadCommands(first, last int) ([]CommandRecord, error) {
	var commands []CommandRecord
	err := r.file.Read(func(tx *sql.Tx) error {
		where := store.Span{Table: "command", Where: "id BETWEEN ? AND ?", Args: []any{first, last}}
		err := r.file.Scan(tx, where, func(c *store.Cells) {
			if c.Int("id") == first+len(commands) { // else one before it is missing
				commands = append(commands, CommandRecord{ID: int64(c.Int("id")), Command: Command{Name: c.Text("name"), Who: c.Text("who"),
					Transport: c.Text("transport"), Transaction: c.Text("transaction_id"), Args: c.Text("args"), At: stampOf(c)}})
			}
		})
		if err != nil {
			return err
		}
		answers := store.Span{Table: "command_answer", Where: "command BETWEEN ? AND ?", Args: []any{first, last}}
		err = r.file.Scan(tx, answers, func(c *store.Cells) {
			if i := c.Int("command") - first; i >= 0 && i < len(commands) {
				commands[i].Answer = &Answer{OK: c.Flag("ok"), Code: c.Text("code"), Message: c.Text("message"), At: stampOf(c)}
			}
		})
		if err != nil {
			return err
		}
		return r.file.Gapless(tx, store.Piece{Table: "command", First: first, Last: last, Found: len(commands)})
	})
	return commands, err
}
