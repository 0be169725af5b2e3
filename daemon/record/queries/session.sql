-- The life of a connection: one active hydrantd, one transaction a batch.

-- The forms in which values are read, whatever the server's or the role's defaults are; and a statement whose client has
-- gone is given up within a second, so that nobody's lock outlives him for long.
-- name: configure_session
SELECT set_config('TimeZone', 'UTC', false), set_config('DateStyle', 'ISO', false),
       set_config('bytea_output', 'hex', false), set_config('client_connection_check_interval', '1000', false),
       set_config('idle_in_transaction_session_timeout', '60000', false);

-- The advisory lock is the election: whoever holds it is the active hydrantd. The server frees it with the session.
-- name: take_lock
SELECT pg_try_advisory_lock(7528158694550172772);

-- At once, where the end of the session would take its time.
-- name: release_lock
SELECT pg_advisory_unlock_all();

-- Who holds it: a key of 64 bits is shown in two halves.
-- name: lock_holder
SELECT lock.pid, coalesce(activity.application_name, '')
FROM pg_locks AS lock
LEFT JOIN pg_stat_activity AS activity USING (pid)
WHERE lock.locktype = 'advisory' AND lock.granted
  AND lock.database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND (lock.classid::bigint << 32 | lock.objid::bigint) = 7528158694550172772;

-- name: end_session
SELECT pg_terminate_backend($1::integer);

-- name: begin
BEGIN;

-- One moment for all that a load reads.
-- name: begin_load
BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;
