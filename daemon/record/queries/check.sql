-- Checks, by the key of all that decides their answer.

-- name: create_checks
INSERT INTO "check" (key, name, output_path, environment_path, command, gpu, wanted_architecture, timeout_us, state, cause,
                     message, architecture, driver, simulated, attempt, failed_attempts)
SELECT key, name, output_path, environment_path, command::text[], gpu, wanted_architecture, timeout_us, state, cause,
       message, architecture, driver, simulated, attempt, failed_attempts
FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::boolean[], $7::text[], $8::bigint[],
            $9::check_state[], $10::cause[], $11::text[], $12::text[], $13::text[], $14::boolean[], $15::bigint[],
            $16::integer[])
  AS row (key, name, output_path, environment_path, command, gpu, wanted_architecture, timeout_us, state, cause, message,
          architecture, driver, simulated, attempt, failed_attempts)
ON CONFLICT (key) DO NOTHING;

-- name: move_check
UPDATE "check"
SET name = $3, output_path = $4, environment_path = $5, command = $6, gpu = $7, wanted_architecture = $8, timeout_us = $9,
    state = $10, cause = $11, message = $12, architecture = $13, driver = $14, simulated = $15, attempt = $16,
    failed_attempts = $17
WHERE key = $1 AND state = $2;

-- name: load_checks
SELECT key, name, output_path, environment_path, command, gpu, wanted_architecture, timeout_us, state, cause, message,
       architecture, driver, simulated, attempt, failed_attempts
FROM "check"
ORDER BY key COLLATE "C";
