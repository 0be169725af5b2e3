-- The largest numbers ever given, and the reign: which hydrantd's turn it is.

-- name: begin_reign
UPDATE last_given
SET reign = reign + 1
RETURNING reign;

-- name: load_last_given
SELECT reign, evaluation, attempt, lease_token
FROM last_given;
