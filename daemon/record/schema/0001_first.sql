-- The record's first shape. Once applied, a file is never changed: a later one alters.
-- Times are timestamptz, to the microsecond; 'infinity' and '-infinity' are themselves, and "not yet" is NULL.
-- Durations are bigint microseconds, in columns that end in _us. Ids are hydrantd's own numbers, never 0.

CREATE TYPE cause AS ENUM (
  'unfree', 'broken', 'unsupported_system', 'insecure', 'assertion', 'throw', 'abort', 'missing_attribute',
  'type_error', 'recursion', 'stack_overflow', 'removed', 'interpreter_disabled', 'capability', 'rule', 'excluded',
  'ifd_forbidden', 'not_a_derivation', 'syntax_error', 'missing_file', 'fetch_failed', 'evaluator_out_of_memory',
  'evaluator_timeout', 'unknown',
  'builder_failed', 'killed', 'out_of_memory', 'disk_full', 'timeout', 'hash_mismatch', 'unsupported_architecture',
  'unsupported_compiler', 'missing_features', 'log_limit', 'output_limit', 'output_missing', 'duplicate_modules',
  'licence_gated', 'dependency_failed', 'transient', 'lost', 'upload_failed', 'cancelled', 'check_failed',
  'audit_failed', 'not_deterministic',
  'driver_too_old', 'no_kernel_image', 'ptx_too_new', 'library_missing', 'cpu_fallback', 'gpu_out_of_memory',
  'device_lost', 'wrong_result');
CREATE TYPE evaluation_state AS ENUM (
  'requested', 'evaluating', 'evaluated', 'settled', 'incomplete', 'failed', 'cancelled');
CREATE TYPE step_state AS ENUM (
  'blocked', 'ready', 'running', 'built', 'succeeded', 'backing_off', 'failed', 'cancelled', 'dependency_failed');
CREATE TYPE check_state AS ENUM ('wanted', 'ready', 'running', 'passed', 'failed', 'skipped');
CREATE TYPE attempt_stage AS ENUM ('leased', 'fetching', 'building', 'pushing', 'ended');
CREATE TYPE attempt_outcome AS ENUM ('succeeded', 'failed', 'cancelled', 'lost');
CREATE TYPE lease_end AS ENUM ('released', 'expired', 'revoked');
CREATE TYPE narinfo_state AS ENUM ('staged', 'published', 'retired');

-- One row: the largest numbers ever given. Rows may be retired, numbers are not given twice.
CREATE TABLE last_given (
  only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
  reign bigint NOT NULL DEFAULT 0,       -- grows when another hydrantd becomes the active one
  evaluation bigint NOT NULL DEFAULT 0,
  attempt bigint NOT NULL DEFAULT 0,
  lease_token bigint NOT NULL DEFAULT 0
);
INSERT INTO last_given DEFAULT VALUES;

CREATE TABLE matrix_text (
  digest text PRIMARY KEY,
  toml text NOT NULL,
  directory text NOT NULL,
  file text NOT NULL
);
CREATE TABLE matrix_file (
  digest text NOT NULL REFERENCES matrix_text,
  name text NOT NULL,
  content bytea NOT NULL,
  PRIMARY KEY (digest, name)
);
CREATE TABLE matrix (
  name text PRIMARY KEY CHECK (name <> ''),
  digest text NOT NULL REFERENCES matrix_text,
  from_folder boolean NOT NULL,
  applied_at timestamptz NOT NULL
);

CREATE TABLE evaluation (
  id bigint PRIMARY KEY CHECK (id > 0),
  matrix text NOT NULL REFERENCES matrix,
  digest text NOT NULL REFERENCES matrix_text,
  "only" text NOT NULL,
  priority integer NOT NULL,
  state evaluation_state NOT NULL,
  revision text NOT NULL,
  message text NOT NULL,
  requested_at timestamptz NOT NULL,
  settled_at timestamptz,
  gate_passed boolean NOT NULL,
  CONSTRAINT evaluation_settled_at_when_final CHECK (
    (state IN ('settled', 'incomplete', 'failed', 'cancelled')) = (settled_at IS NOT NULL))
);
CREATE INDEX evaluation_newest ON evaluation (matrix, id DESC);
CREATE INDEX evaluation_open ON evaluation (id) WHERE settled_at IS NULL;

CREATE TABLE variant (
  evaluation bigint NOT NULL REFERENCES evaluation,
  id text NOT NULL CHECK (id <> ''),
  ordinal integer NOT NULL CHECK (ordinal >= 0),
  package text NOT NULL,
  slice json,
  cause cause,
  message text NOT NULL,
  derivation text CHECK (derivation <> ''),
  output_names text[] NOT NULL,
  output_paths text[] NOT NULL,
  environment text NOT NULL,
  environment_output text NOT NULL,
  PRIMARY KEY (evaluation, id),
  CONSTRAINT variant_derivation_or_cause CHECK ((derivation IS NULL) = (cause IS NOT NULL)),
  CONSTRAINT variant_outputs_have_names CHECK (cardinality(output_names) = cardinality(output_paths))
);
CREATE INDEX variant_of_derivation ON variant (derivation);

CREATE TABLE derivation (
  path text PRIMARY KEY CHECK (path <> ''),
  aterm bytea NOT NULL
);

CREATE TABLE step (
  derivation text PRIMARY KEY REFERENCES derivation,
  state step_state NOT NULL,
  cause cause,
  message text NOT NULL,
  root text NOT NULL,
  failed_attempts integer NOT NULL CHECK (failed_attempts >= 0),
  not_before timestamptz NOT NULL,
  held_by text NOT NULL,
  CONSTRAINT step_failed_has_cause CHECK (state <> 'failed' OR cause IS NOT NULL)
);

CREATE TABLE "check" (
  key text PRIMARY KEY CHECK (key <> ''),
  name text NOT NULL,
  output_path text NOT NULL,
  environment_path text NOT NULL,
  command text[] NOT NULL,
  gpu boolean NOT NULL,
  wanted_architecture text NOT NULL,
  timeout_us bigint NOT NULL CHECK (timeout_us > 0),
  state check_state NOT NULL,
  cause cause,
  message text NOT NULL,
  architecture text NOT NULL,
  driver text NOT NULL,
  simulated boolean NOT NULL,
  attempt bigint CHECK (attempt > 0),
  failed_attempts integer NOT NULL CHECK (failed_attempts >= 0),
  CONSTRAINT check_failed_has_cause CHECK (state <> 'failed' OR cause IS NOT NULL),
  CONSTRAINT check_passed_has_no_cause CHECK (state <> 'passed' OR cause IS NULL)
);

-- An attempt and the one lease that it runs under: they begin and end together, so they are one row.
CREATE TABLE attempt (
  id bigint PRIMARY KEY CHECK (id > 0),
  derivation text REFERENCES step,
  check_key text REFERENCES "check",
  worker text NOT NULL CHECK (worker <> ''),
  instance text NOT NULL,
  gpu_uuid text CHECK (gpu_uuid <> ''),
  stage attempt_stage NOT NULL,
  stage_at timestamptz NOT NULL,
  lease_token bigint NOT NULL UNIQUE CHECK (lease_token > 0),
  granted_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  lease_end lease_end,
  outcome attempt_outcome,
  cause cause,
  message text NOT NULL DEFAULT '',
  fetching_us bigint NOT NULL DEFAULT 0,
  building_us bigint NOT NULL DEFAULT 0,
  pushing_us bigint NOT NULL DEFAULT 0,
  cpu_us bigint NOT NULL DEFAULT 0,
  max_memory_bytes bigint NOT NULL DEFAULT 0,
  log_bytes bigint NOT NULL DEFAULT 0,
  ended_at timestamptz,
  CONSTRAINT attempt_of_step_or_check CHECK (num_nonnulls(derivation, check_key) = 1),
  CONSTRAINT attempt_ends_at_once CHECK (num_nulls(outcome, ended_at, lease_end) IN (0, 3)),
  CONSTRAINT attempt_stage_ended_with_outcome CHECK ((stage = 'ended') = (outcome IS NOT NULL)),
  CONSTRAINT attempt_cause_only_of_outcome CHECK (cause IS NULL OR (outcome IS NOT NULL AND outcome <> 'succeeded')),
  CONSTRAINT attempt_failed_has_cause CHECK (outcome IS DISTINCT FROM 'failed' OR cause IS NOT NULL)
);
CREATE UNIQUE INDEX attempt_live_of_step ON attempt (derivation) WHERE outcome IS NULL;
CREATE UNIQUE INDEX attempt_live_of_check ON attempt (check_key) WHERE outcome IS NULL;
CREATE UNIQUE INDEX attempt_live_on_gpu ON attempt (worker, gpu_uuid) WHERE outcome IS NULL;
CREATE INDEX attempt_newest_of_step ON attempt (derivation, id DESC);
CREATE INDEX attempt_newest_of_check ON attempt (check_key, id DESC);
CREATE INDEX attempt_newest_success ON attempt (id DESC) WHERE outcome = 'succeeded' AND derivation IS NOT NULL;

CREATE TABLE narinfo (
  path text PRIMARY KEY CHECK (path <> ''),
  state narinfo_state NOT NULL,
  compression text NOT NULL,
  file_hash text NOT NULL CHECK (file_hash <> ''),
  file_size bigint NOT NULL CHECK (file_size >= 0),
  nar_hash text NOT NULL CHECK (nar_hash <> ''),
  nar_size bigint NOT NULL CHECK (nar_size >= 0),
  "references" text[] NOT NULL,
  deriver text NOT NULL,
  content_address text NOT NULL,
  signatures text[] NOT NULL,
  attempt bigint CHECK (attempt > 0),
  staged_at timestamptz NOT NULL,
  published_at timestamptz,
  CONSTRAINT narinfo_published_is_signed CHECK (
    state <> 'published' OR (cardinality(signatures) > 0 AND published_at IS NOT NULL)),
  CONSTRAINT narinfo_staged_is_unsigned CHECK (
    state <> 'staged' OR (cardinality(signatures) = 0 AND published_at IS NULL))
);

CREATE TABLE channel (
  name text PRIMARY KEY CHECK (name <> ''),
  matrix text NOT NULL REFERENCES matrix,
  evaluation bigint NOT NULL REFERENCES evaluation,
  revision text NOT NULL,
  at timestamptz NOT NULL
);

CREATE TABLE worker (
  name text PRIMARY KEY CHECK (name <> ''),
  systems text[] NOT NULL,
  features text[] NOT NULL,
  cores integer NOT NULL,
  memory_bytes bigint NOT NULL,
  slots integer NOT NULL,
  version text NOT NULL,
  nix_version text NOT NULL,
  drained_by_operator boolean NOT NULL,
  revoked boolean NOT NULL,
  seen_at timestamptz NOT NULL
);
CREATE TABLE worker_gpu (
  worker text NOT NULL REFERENCES worker,
  ordinal integer NOT NULL,
  uuid text NOT NULL,
  name text NOT NULL,
  architecture text NOT NULL,
  memory_bytes bigint NOT NULL,
  driver text NOT NULL,
  simulated boolean NOT NULL,
  PRIMARY KEY (worker, ordinal)
);
