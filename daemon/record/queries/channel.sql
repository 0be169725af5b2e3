-- A channel moves by compare-and-set, and never to an older evaluation.

-- name: create_channel
INSERT INTO channel (name, matrix, evaluation, revision, at)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (name) DO NOTHING;

-- name: move_channel
UPDATE channel
SET matrix = $2, evaluation = $3, revision = $4, at = $5
WHERE name = $1 AND evaluation = $6 AND evaluation < $3;

-- name: load_channels
SELECT name, matrix, evaluation, revision, at
FROM channel
ORDER BY name COLLATE "C";
