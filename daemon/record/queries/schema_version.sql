-- Which schema files the database has seen.

-- name: create_schema_version
CREATE TABLE IF NOT EXISTS schema_version (
  file text PRIMARY KEY,
  checksum text NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now()
);

-- name: load_schema_versions
SELECT file, checksum
FROM schema_version
ORDER BY file COLLATE "C";

-- name: add_schema_version
INSERT INTO schema_version (file, checksum)
VALUES ($1, $2);
