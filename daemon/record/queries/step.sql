-- Derivations and the steps that realise them.

-- name: save_derivations
INSERT INTO derivation (path, aterm)
SELECT path, aterm
FROM unnest($1::text[], $2::bytea[]) AS row (path, aterm)
ON CONFLICT (path) DO NOTHING;

-- Returns those that were not there; the guard is that it returns all.
-- name: create_steps
INSERT INTO step (derivation, state, cause, message, root, failed_attempts, not_before, held_by)
SELECT derivation, state, cause, message, root, failed_attempts, not_before, held_by
FROM unnest($1::text[], $2::step_state[], $3::cause[], $4::text[], $5::text[], $6::integer[], $7::timestamptz[],
            $8::text[])
  AS row (derivation, state, cause, message, root, failed_attempts, not_before, held_by)
ON CONFLICT (derivation) DO NOTHING
RETURNING derivation;

-- Returns those that were in the state that the move expects; the guard is that it returns all.
-- name: move_steps
UPDATE step
SET state = move.state, cause = move.cause, message = move.message, root = move.root,
    failed_attempts = move.failed_attempts, not_before = move.not_before, held_by = move.held_by
FROM unnest($1::text[], $2::step_state[], $3::step_state[], $4::cause[], $5::text[], $6::text[], $7::integer[],
            $8::timestamptz[], $9::text[])
  AS move (derivation, from_state, state, cause, message, root, failed_attempts, not_before, held_by)
WHERE step.derivation = move.derivation AND step.state = move.from_state
RETURNING step.derivation;

-- name: load_derivations
SELECT path, aterm
FROM derivation
ORDER BY path COLLATE "C";

-- name: load_steps
SELECT derivation, state, cause, message, root, failed_attempts, not_before, held_by
FROM step
ORDER BY derivation COLLATE "C";
