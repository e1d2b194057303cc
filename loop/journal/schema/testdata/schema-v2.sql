CREATE TABLE comparison (
  n           INTEGER PRIMARY KEY, -- 1, 2, 3, ...
  control_set INTEGER NOT NULL REFERENCES control_set (n), -- played on both sides
  pairs       INTEGER NOT NULL,    -- to be measured
  shots       INTEGER NOT NULL,    -- of each step
  proposed    INTEGER NOT NULL,    -- 1: after a decision that was made and not played
  session     INTEGER NOT NULL REFERENCES session (n),
  mono_ns     INTEGER NOT NULL,
  wall_ns     INTEGER,
  crc         INTEGER NOT NULL
) STRICT;

CREATE TABLE comparison_value (
  comparison  INTEGER NOT NULL REFERENCES comparison (n),
  variable    INTEGER NOT NULL REFERENCES variable (n),
  recommended REAL,                -- NULL: random on that side
  start       REAL,
  crc         INTEGER NOT NULL,
  PRIMARY KEY (comparison, variable)
) STRICT, WITHOUT ROWID;

CREATE TABLE comparison_step (
  step       INTEGER PRIMARY KEY REFERENCES decision (step),
  comparison INTEGER NOT NULL REFERENCES comparison (n),
  pair       INTEGER NOT NULL,     -- 1, 2, 3, ...
  side       TEXT    NOT NULL,     -- recommended or start
  crc        INTEGER NOT NULL
) STRICT;

CREATE TABLE comparison_result (
  comparison INTEGER PRIMARY KEY REFERENCES comparison (n),
  verdict    TEXT    NOT NULL,     -- better, worse, none or no data
  pairs      INTEGER NOT NULL,     -- that both sides gave data for
  gain       REAL,                 -- recommended less start, for the better positive
  low        REAL,                 -- confidence limits of gain; NULL: not bounded
  high       REAL,
  p          REAL,                 -- one-sided, of no gain
  document   TEXT    NOT NULL,     -- all of it, JSON
  session    INTEGER NOT NULL REFERENCES session (n),
  mono_ns    INTEGER NOT NULL,
  wall_ns    INTEGER,
  crc        INTEGER NOT NULL
) STRICT;

CREATE TABLE warm_source (
  n        INTEGER PRIMARY KEY,    -- 0, 1, 2, ...
  file     TEXT    NOT NULL,       -- as it was named
  sha256   TEXT    NOT NULL,       -- of what was read, in hexadecimal
  uid      TEXT    NOT NULL,       -- of the run, empty for a table of values
  taken    INTEGER NOT NULL,       -- rows in warm
  dropped  INTEGER NOT NULL,       -- that lay outside the ranges
  crc      INTEGER NOT NULL
) STRICT;

CREATE TABLE warm (
  source      INTEGER NOT NULL REFERENCES warm_source (n),
  n           INTEGER NOT NULL,
  mean        REAL    NOT NULL,    -- of the objective, in the user's sense and unit
  variance    REAL,                -- unbiased, of single shots; NULL at one shot
  shots       INTEGER NOT NULL,
  crc         INTEGER NOT NULL,
  PRIMARY KEY (source, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE warm_value (
  source   INTEGER NOT NULL,
  n        INTEGER NOT NULL,       -- of warm
  variable INTEGER NOT NULL REFERENCES variable (n),
  x        REAL    NOT NULL,
  crc      INTEGER NOT NULL,
  PRIMARY KEY (source, n, variable),
  FOREIGN KEY (source, n) REFERENCES warm (source, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE command (
  id             INTEGER PRIMARY KEY, -- 1, 2, 3, ...
  name           TEXT    NOT NULL,    -- pause, resume, stop, reset, set-best, status, or what was asked for
  who            TEXT    NOT NULL,    -- as far as the transport can tell
  transport      TEXT    NOT NULL,    -- mqtt, web, signal or cli
  transaction_id TEXT    NOT NULL,    -- the sender's name for it
  args           TEXT    NOT NULL,    -- JSON, empty without
  session        INTEGER NOT NULL REFERENCES session (n),
  mono_ns        INTEGER NOT NULL,
  wall_ns        INTEGER,
  crc            INTEGER NOT NULL
) STRICT;

CREATE TABLE command_answer (
  command INTEGER PRIMARY KEY REFERENCES command (id), -- none: nobody knows whether it acted
  ok      INTEGER NOT NULL,        -- 1: it was followed
  code    TEXT    NOT NULL,        -- one word for programs
  message TEXT    NOT NULL,
  session INTEGER NOT NULL REFERENCES session (n),
  mono_ns INTEGER NOT NULL,
  wall_ns INTEGER,
  crc     INTEGER NOT NULL
) STRICT;

CREATE TABLE tape (
  id      INTEGER PRIMARY KEY,     -- 1, 2, 3, ...
  ticks   INTEGER NOT NULL,        -- of the safety layer, 0: what the session began from
  data    BLOB    NOT NULL,        -- JSON where ticks is 0; else packed by package loop
  session INTEGER NOT NULL REFERENCES session (n),
  mono_ns INTEGER NOT NULL,
  wall_ns INTEGER,
  crc     INTEGER NOT NULL
) STRICT;
