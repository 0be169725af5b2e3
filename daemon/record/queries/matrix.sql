-- Matrices and the texts that evaluations began with.

-- name: save_matrix_text
INSERT INTO matrix_text (digest, toml, directory, file)
VALUES ($1, $2, $3, $4)
ON CONFLICT (digest) DO NOTHING;

-- name: save_matrix_files
INSERT INTO matrix_file (digest, name, content)
SELECT $1, file.name, file.content
FROM unnest($2::text[], $3::bytea[]) AS file (name, content)
ON CONFLICT (digest, name) DO NOTHING;

-- name: save_matrix
INSERT INTO matrix (name, digest, from_folder, applied_at)
VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE
SET digest = excluded.digest, from_folder = excluded.from_folder, applied_at = excluded.applied_at;

-- name: load_matrices
SELECT name, digest, from_folder, applied_at
FROM matrix
ORDER BY name COLLATE "C";

-- Of matrices, and of the evaluations that a load gives.
-- name: load_matrix_texts
SELECT digest, toml, directory, file
FROM matrix_text
WHERE digest IN (SELECT digest FROM matrix)
   OR digest IN (SELECT digest FROM evaluation WHERE id = ANY ($1::bigint[]))
ORDER BY digest COLLATE "C";

-- name: load_matrix_files
SELECT digest, name, content
FROM matrix_file
WHERE digest = ANY ($1::text[]);
