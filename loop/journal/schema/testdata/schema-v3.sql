CREATE TABLE session_decisions (
  session   INTEGER PRIMARY KEY REFERENCES session (n),
  decisions INTEGER NOT NULL,      -- version of what decides: another one may decide otherwise
  crc       INTEGER NOT NULL
) STRICT;

CREATE TABLE decision_shots (
  step  INTEGER PRIMARY KEY REFERENCES decision (step),
  shots INTEGER NOT NULL,          -- that the policy asked for; no row: as many as are configured
  crc   INTEGER NOT NULL
) STRICT;

CREATE TABLE event_facts (
  event INTEGER PRIMARY KEY REFERENCES event (id),
  facts TEXT    NOT NULL,          -- what programs read of it: a JSON object
  crc   INTEGER NOT NULL
) STRICT;
