-- Guards: an id is larger than any before; a move says the state that it expects.

-- name: create_evaluation
WITH given AS (
  UPDATE last_given
  SET evaluation = $1::bigint
  WHERE evaluation < $1::bigint
  RETURNING evaluation
)
INSERT INTO evaluation (id, matrix, digest, "only", priority, state, revision, message, requested_at, settled_at,
                        gate_passed, branch, wanted_revision)
SELECT evaluation, $2, $3, $4, $5::integer, $6::evaluation_state, $7, $8, $9::timestamptz, $10::timestamptz, $11::boolean, $12,
       $13
FROM given;

-- name: move_evaluation
UPDATE evaluation
SET state = $3, revision = $4, message = $5, settled_at = $6, gate_passed = $7
WHERE id = $1 AND state = $2;

-- The newest 20 of each branch of each matrix, and all that are not final.
-- name: load_evaluations
SELECT id, matrix, digest, "only", priority, state, revision, message, requested_at, settled_at, gate_passed, branch,
       wanted_revision
FROM evaluation
WHERE settled_at IS NULL
   OR id IN (
     SELECT newest.id
     FROM (SELECT DISTINCT matrix, branch FROM evaluation) AS source
     CROSS JOIN LATERAL (
       SELECT id FROM evaluation
       WHERE evaluation.matrix = source.matrix AND evaluation.branch = source.branch
       ORDER BY id DESC
       LIMIT 20
     ) AS newest)
ORDER BY id;

-- name: find_evaluations
SELECT id, matrix, digest, "only", priority, state, revision, message, requested_at, settled_at, gate_passed, branch,
       wanted_revision
FROM evaluation
WHERE matrix = $1
ORDER BY id DESC
LIMIT $2;

-- name: save_derived_list
INSERT INTO derived_list (evaluation, revision, packages, notes, complete)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (evaluation) DO UPDATE
SET revision = excluded.revision, packages = excluded.packages, notes = excluded.notes, complete = excluded.complete;

-- name: load_derived_lists
SELECT evaluation, revision, packages, notes, complete
FROM derived_list
WHERE evaluation = ANY ($1::bigint[])
ORDER BY evaluation;
