-- Attempts with their leases. A lease is live while its attempt has no outcome; what ends it names the token.

-- Guards: numbers that were never given; no live lease of the same subject or GPU (the unique indices).
-- name: grant_lease
WITH given AS (
  UPDATE last_given
  SET attempt = $1::bigint, lease_token = $2::bigint
  WHERE attempt < $1::bigint AND lease_token < $2::bigint
  RETURNING attempt, lease_token
)
INSERT INTO attempt (id, lease_token, derivation, check_key, worker, instance, gpu_uuid, stage, granted_at, expires_at,
                     stage_at)
SELECT attempt, lease_token, $3, $4, $5, $6, $7, $8::attempt_stage, $9::timestamptz, $10::timestamptz, $11::timestamptz
FROM given;

-- Forward only.
-- name: advance_attempt
UPDATE attempt
SET stage = $3, stage_at = coalesce($4, stage_at)
WHERE id = $1 AND lease_token = $2 AND outcome IS NULL AND stage <= $3;

-- Those that ended meanwhile stay ended, and none becomes shorter.
-- name: renew_leases
UPDATE attempt
SET expires_at = greatest(expires_at, $2::timestamptz)
WHERE id = ANY ($1::bigint[]) AND outcome IS NULL;

-- name: end_attempt
UPDATE attempt
SET stage = 'ended', stage_at = $13, lease_end = $3, outcome = $4, cause = $5, message = $6, fetching_us = $7,
    building_us = $8, pushing_us = $9, cpu_us = $10, max_memory_bytes = $11, log_bytes = $12,
    ended_at = $13
WHERE id = $1 AND lease_token = $2 AND outcome IS NULL;

-- name: load_live_attempts
SELECT id, lease_token, derivation, check_key, worker, instance, gpu_uuid, stage, granted_at, expires_at, stage_at,
       outcome, cause, message, fetching_us, building_us, pushing_us, cpu_us, max_memory_bytes, log_bytes, ended_at
FROM attempt
WHERE outcome IS NULL
ORDER BY id;

-- name: find_attempt
SELECT id, lease_token, derivation, check_key, worker, instance, gpu_uuid, stage, granted_at, expires_at, stage_at,
       outcome, cause, message, fetching_us, building_us, pushing_us, cpu_us, max_memory_bytes, log_bytes, ended_at
FROM attempt
WHERE id = $1;

-- name: find_attempts_of_step
SELECT id, lease_token, derivation, check_key, worker, instance, gpu_uuid, stage, granted_at, expires_at, stage_at,
       outcome, cause, message, fetching_us, building_us, pushing_us, cpu_us, max_memory_bytes, log_bytes, ended_at
FROM attempt
WHERE derivation = $1
ORDER BY id DESC
LIMIT $2;

-- name: find_attempts_of_check
SELECT id, lease_token, derivation, check_key, worker, instance, gpu_uuid, stage, granted_at, expires_at, stage_at,
       outcome, cause, message, fetching_us, building_us, pushing_us, cpu_us, max_memory_bytes, log_bytes, ended_at
FROM attempt
WHERE check_key = $1
ORDER BY id DESC
LIMIT $2;

-- What the estimates begin with: the newest 10,000 successes, newest first.
-- name: load_durations
SELECT derivation, building_us, cpu_us
FROM attempt
WHERE outcome = 'succeeded' AND derivation IS NOT NULL
ORDER BY id DESC
LIMIT 10000;

-- The same of checks.
-- name: load_check_durations
SELECT check_key, building_us
FROM attempt
WHERE outcome = 'succeeded' AND check_key IS NOT NULL
ORDER BY id DESC
LIMIT 10000;

-- name: count_attempts
SELECT outcome, cause, count(*)
FROM attempt
WHERE outcome IS NOT NULL
GROUP BY outcome, cause
ORDER BY outcome::text COLLATE "C", cause::text COLLATE "C" NULLS FIRST;
