// Package journal is the durable log of a run: what was decided, what the safety
// layer made of it, what was sent to the instrument, what came back, and what it
// was worth. It survives the process and the machine: what a method of Journal
// has returned without an error is on the disk.
//
// A journal is one SQLite database, NAME.db, which whatever reads SQLite opens as
// it is, such as pandas through Python's sqlite3; the view steps is made for that.
// While a process writes there are two files more, NAME.db-wal and NAME.db-shm,
// which belong to it: a copy of NAME.db alone lacks the newest records.
// NAME.db.lock says which process writes.
//
// # Words
//
// A run is written by one or more sessions, processes one after the other. A step
// begins with a decision and ends with an outcome; between them lie actions on
// the instrument and shots. An action is recorded before it is carried out (the
// intent) and resolved when more is known: sent, then confirmed or failed. An
// action that was never resolved may or may not have reached the instrument. An
// event is a line of the run's story; a finished run has a result, and then no
// more records, unless it goes on: see Options.Continue.
//
// # Schema
//
// Lines go from a row to those that belong to it; schema/schema.sql, schema2.sql and schema3.sql
// have every column with its meaning, and are kept in the file.
//
//	run ── 1 row: name, policy, seed, objective, units
//	 ├── variable            place in file order, name, unit
//	 ├── sensor              likewise
//	 ├── control_set         cost
//	 │    └── control_set_variable
//	 └── warm_source         file and run that earlier observations come from (2)
//	      └── warm           mean, variance and shots of one (2)
//	           └── warm_value    per variable: x (2)
//	session ── one per process: pid, boot id, version, start
//	 ├── session_decisions   version of what decides (3)
//	 └── config              the file's text and its SHA-256
//	      └── setting        every effective key, value and origin
//	decision ── one per step: control set, work units, time, explanation
//	 ├── decision_value      per variable: requested, applied
//	 ├── reason              per rule that touched a variable: from, to
//	 ├── decision_shots      of a step of which the policy says it: how many (3)
//	 ├── comparison_step     of a step that re-measures: comparison, pair, side (2)
//	 ├── shot                the objective's value
//	 │    ├── shot_value     per variable: x as measured
//	 │    └── shot_reading   per sensor: value, quality
//	 └── outcome             mean, its standard error, variance, cost, spent, valid, problem
//	      └── outcome_value  per variable: x as achieved
//	action ── intents: device, kind; step 0 outside any step
//	 ├── action_channel      value to write, NULL to let go
//	 └── action_state        sent, confirmed, failed, unknown; message
//	      └── action_readback
//	comparison ── recommended against starting setting: pairs, shots (2)
//	 ├── comparison_value    per variable: the two settings (2)
//	 └── comparison_result   verdict, gain with its limits, p-value (2)
//	event ── level, kind, message
//	 └── event_facts         what programs read of it, JSON (3)
//	command ── who asked for what, and by which way (2)
//	 └── command_answer      what came of it (2)
//	tape ── inputs and outputs of the safety layer, tick by tick, packed (2)
//	result ── at most 1 row: reason, JSON document
//
// Steps, actions, events, commands, tapes and sessions are numbered 1, 2, 3 without gaps;
// variables, sensors and control sets from 0, in the order of the configuration.
// Rows are only ever added: none is changed, and none removed but the result of a run that goes
// on after it was finished, which an event of kind continued then holds. Every table is STRICT, and there are no indexes beside the primary keys.
//
// # Versions
//
// The file's user_version is its schema's: 1 to 4 are known, and the tables marked (2) and
// (3) came with these; what came with version 4 are checksums that know the run. A Reader
// reads every version up to its own, where tables of later ones are as good as empty, and
// never changes the file. Open brings a file of version 2 to version 3, by adding tables and
// saying of its sessions what decided, and leaves it there: its rows would all have to be
// written anew for version 4. A run of version 1, which no release wrote, does not go on. A
// newer version than its own is refused.
//
// What decides has a version as well, which the journal keeps for each session: where it is
// another one, the same observations may give other decisions.
//
// NULL in a number's place is no data (NaN in Go). Minus zero is kept as zero.
// Text that is not UTF-8, or holds NUL, has U+FFFD in their place.
//
// Every record in time has three columns: session, mono_ns (nanoseconds of the
// monotonic clock, which restarts with each session) and wall_ns (nanoseconds
// since 1970 UTC, which may jump; NULL if unknown).
//
// # Checksums
//
// SQLite notices a damaged page structure but not a flipped bit in a number, so
// the last column of every row, crc, is the CRC-32C (Castagnoli, as in iSCSI) of
// the row's canonical form: from version 4 on the run's id (run.uid), then the table's name,
// then every other column in order, each as a tag and a payload, integers big endian.
//
//	| 0 |                                     NULL
//	| 1 | 8 bytes, two's complement |         INTEGER
//	| 2 | 8 bytes, IEEE 754 binary64 |        REAL
//	| 3 | 8 bytes, length n | n bytes UTF-8 | TEXT, the run's id, the table's name
//	| 4 | 8 bytes, length n | n bytes |       BLOB
//
// The key is among the columns, so a row that turns up under another key, or in
// another table, fails as well, and so does a row of another run: the log of another
// journal that is put beside this one, which SQLite plays in unseen, is refused. Rows that are missing altogether show by the
// counts that their parents keep. A Reader checks each row that it gives, Verify
// and Open check all of them.
//
// # Durability
//
// There is one writing connection, in WAL mode with synchronous=FULL: each
// recording method is one transaction and ends with an fsync, what Together records is
// one too, and a run that can be repeated (Options.Repeatable: a simulation) has one a step,
// beside the next step and not synced. A lost or garbled tail of the log costs the records in it,
// never one before. On file systems
// where processes cannot share memory (NFS, SMB, FUSE, exFAT and the like) the
// journal is kept in DELETE mode with synchronous=EXTRA, with a notice. A clean
// end folds the log into the one file.
//
// A second writer is refused by an flock on NAME.db.lock. Readers need no lock.
package journal
