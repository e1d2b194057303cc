CREATE TABLE run (
  id             INTEGER PRIMARY KEY CHECK (id = 1),
  uid            TEXT    NOT NULL, -- unique to the run
  name           TEXT    NOT NULL,
  site           TEXT    NOT NULL,
  mode           TEXT    NOT NULL, -- simulate, shadow or run
  policy         TEXT    NOT NULL,
  seed           TEXT    NOT NULL, -- decimal, up to 2^64 - 1
  objective      TEXT    NOT NULL,
  objective_unit TEXT    NOT NULL,
  minimize       INTEGER NOT NULL, -- 1: smaller is better
  cost_unit      TEXT    NOT NULL,
  variables      INTEGER NOT NULL, -- rows in variable
  sensors        INTEGER NOT NULL, -- rows in sensor
  control_sets   INTEGER NOT NULL, -- rows in control_set
  crc            INTEGER NOT NULL
) STRICT;

CREATE TABLE session (
  n       INTEGER PRIMARY KEY,     -- 1 made the journal, each resume adds one
  pid     INTEGER NOT NULL,
  version TEXT    NOT NULL,        -- of tuner
  boot_id TEXT    NOT NULL,
  mono_ns INTEGER NOT NULL,        -- monotonic clock, restarts with each session
  wall_ns INTEGER,                 -- nanoseconds since 1970-01-01 UTC
  crc     INTEGER NOT NULL
) STRICT;

CREATE TABLE config (
  session  INTEGER PRIMARY KEY REFERENCES session (n),
  file     TEXT    NOT NULL,
  sha256   TEXT    NOT NULL,       -- of text, in hexadecimal
  text     BLOB,                   -- the file's bytes, NULL if there are none
  settings INTEGER NOT NULL,       -- rows in setting
  crc      INTEGER NOT NULL
) STRICT;

CREATE TABLE setting (
  session INTEGER NOT NULL REFERENCES config (session),
  n       INTEGER NOT NULL,
  key     TEXT    NOT NULL,        -- dotted
  value   TEXT    NOT NULL,        -- as TOML
  origin  TEXT    NOT NULL,        -- FILE:LINE or default
  crc     INTEGER NOT NULL,
  PRIMARY KEY (session, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE variable (
  n    INTEGER PRIMARY KEY,
  name TEXT    NOT NULL,
  unit TEXT    NOT NULL,
  crc  INTEGER NOT NULL
) STRICT;

CREATE TABLE sensor (
  n    INTEGER PRIMARY KEY,
  name TEXT    NOT NULL,
  unit TEXT    NOT NULL,
  crc  INTEGER NOT NULL
) STRICT;

CREATE TABLE control_set (
  n         INTEGER PRIMARY KEY,
  cost      REAL,                  -- in cost_unit
  variables INTEGER NOT NULL,      -- rows in control_set_variable
  crc       INTEGER NOT NULL
) STRICT;

CREATE TABLE control_set_variable (
  control_set INTEGER NOT NULL REFERENCES control_set (n),
  n           INTEGER NOT NULL,
  variable    INTEGER NOT NULL REFERENCES variable (n),
  crc         INTEGER NOT NULL,
  PRIMARY KEY (control_set, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE decision (
  step        INTEGER PRIMARY KEY, -- 1, 2, 3, ...
  control_set INTEGER NOT NULL REFERENCES control_set (n),
  initial     INTEGER NOT NULL,    -- 1: of the initial design
  work        INTEGER NOT NULL,    -- work units spent
  cut         INTEGER NOT NULL,    -- 1: stopped early, at that unit
  took_ns     INTEGER NOT NULL,
  why         TEXT    NOT NULL,    -- the policy's explanation, JSON
  reasons     INTEGER NOT NULL,    -- rows in reason
  session     INTEGER NOT NULL REFERENCES session (n),
  mono_ns     INTEGER NOT NULL,
  wall_ns     INTEGER,
  crc         INTEGER NOT NULL
) STRICT;

CREATE TABLE decision_value (
  step      INTEGER NOT NULL REFERENCES decision (step),
  variable  INTEGER NOT NULL REFERENCES variable (n),
  requested REAL,                  -- by the policy; NULL: random in this step
  applied   REAL,                  -- what the safety layer made of it
  crc       INTEGER NOT NULL,
  PRIMARY KEY (step, variable)
) STRICT, WITHOUT ROWID;

CREATE TABLE reason (
  step       INTEGER NOT NULL REFERENCES decision (step),
  n          INTEGER NOT NULL,
  variable   INTEGER REFERENCES variable (n), -- NULL: the whole proposal
  rule       TEXT    NOT NULL,
  from_value REAL,
  to_value   REAL,
  crc        INTEGER NOT NULL,
  PRIMARY KEY (step, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE action (
  id       INTEGER PRIMARY KEY,    -- 1, 2, 3, ...
  step     INTEGER NOT NULL,       -- 0: outside any step
  device   TEXT    NOT NULL,
  kind     TEXT    NOT NULL,       -- move, release, halt, shutdown
  channels INTEGER NOT NULL,       -- rows in action_channel
  session  INTEGER NOT NULL REFERENCES session (n),
  mono_ns  INTEGER NOT NULL,
  wall_ns  INTEGER,
  crc      INTEGER NOT NULL
) STRICT;

CREATE TABLE action_channel (
  action  INTEGER NOT NULL REFERENCES action (id),
  n       INTEGER NOT NULL,
  channel TEXT    NOT NULL,
  value   REAL,                    -- NULL: let go
  crc     INTEGER NOT NULL,
  PRIMARY KEY (action, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE action_state (
  action    INTEGER NOT NULL REFERENCES action (id),
  n         INTEGER NOT NULL,      -- 1, 2, ...; none: nobody knows
  state     TEXT    NOT NULL,      -- sent, confirmed, failed, unknown
  message   TEXT    NOT NULL,
  readbacks INTEGER NOT NULL,      -- rows in action_readback
  session   INTEGER NOT NULL REFERENCES session (n),
  mono_ns   INTEGER NOT NULL,
  wall_ns   INTEGER,
  crc       INTEGER NOT NULL,
  PRIMARY KEY (action, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE action_readback (
  action  INTEGER NOT NULL,
  state   INTEGER NOT NULL,        -- n of action_state
  n       INTEGER NOT NULL,
  channel TEXT    NOT NULL,
  value   REAL,
  crc     INTEGER NOT NULL,
  PRIMARY KEY (action, state, n),
  FOREIGN KEY (action, state) REFERENCES action_state (action, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE shot (
  step      INTEGER NOT NULL REFERENCES decision (step),
  n         INTEGER NOT NULL,
  objective REAL,                  -- in the user's sense and unit
  session   INTEGER NOT NULL REFERENCES session (n),
  mono_ns   INTEGER NOT NULL,
  wall_ns   INTEGER,
  crc       INTEGER NOT NULL,
  PRIMARY KEY (step, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE shot_value (
  step     INTEGER NOT NULL,
  shot     INTEGER NOT NULL,       -- n of shot
  variable INTEGER NOT NULL REFERENCES variable (n),
  x        REAL,                   -- as measured
  crc      INTEGER NOT NULL,
  PRIMARY KEY (step, shot, variable),
  FOREIGN KEY (step, shot) REFERENCES shot (step, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE shot_reading (
  step    INTEGER NOT NULL,
  shot    INTEGER NOT NULL,        -- n of shot
  sensor  INTEGER NOT NULL REFERENCES sensor (n),
  value   REAL,
  quality TEXT,                    -- NULL: good; else why there is no number
  crc     INTEGER NOT NULL,
  PRIMARY KEY (step, shot, sensor),
  FOREIGN KEY (step, shot) REFERENCES shot (step, n)
) STRICT, WITHOUT ROWID;

CREATE TABLE outcome (
  step     INTEGER PRIMARY KEY REFERENCES decision (step),
  mean     REAL,
  variance REAL,                   -- unbiased, of single shots; NULL at one shot
  standard_error REAL,             -- of mean; NULL at one shot
  shots    INTEGER NOT NULL,       -- behind mean and variance
  recorded INTEGER NOT NULL,       -- rows in shot
  cost     REAL,                   -- of the step, in cost_unit
  spent    REAL,                   -- by the run so far, in cost_unit
  valid    INTEGER NOT NULL,
  problem  TEXT    NOT NULL,       -- why not valid
  session  INTEGER NOT NULL REFERENCES session (n),
  mono_ns  INTEGER NOT NULL,
  wall_ns  INTEGER,
  crc      INTEGER NOT NULL
) STRICT;

CREATE TABLE outcome_value (
  step     INTEGER NOT NULL REFERENCES outcome (step),
  variable INTEGER NOT NULL REFERENCES variable (n),
  x        REAL,                   -- as achieved or measured
  crc      INTEGER NOT NULL,
  PRIMARY KEY (step, variable)
) STRICT, WITHOUT ROWID;

CREATE TABLE event (
  id      INTEGER PRIMARY KEY,     -- 1, 2, 3, ...
  level   TEXT    NOT NULL,        -- info, warn, error
  kind    TEXT    NOT NULL,
  message TEXT    NOT NULL,
  step    INTEGER NOT NULL,        -- 0: outside any step
  session INTEGER NOT NULL REFERENCES session (n),
  mono_ns INTEGER NOT NULL,
  wall_ns INTEGER,
  crc     INTEGER NOT NULL
) STRICT;

CREATE TABLE result (
  id       INTEGER PRIMARY KEY CHECK (id = 1),
  reason   TEXT    NOT NULL,       -- why the run ended
  document TEXT    NOT NULL,       -- the result, JSON
  session  INTEGER NOT NULL REFERENCES session (n),
  mono_ns  INTEGER NOT NULL,
  wall_ns  INTEGER,
  crc      INTEGER NOT NULL
) STRICT;
