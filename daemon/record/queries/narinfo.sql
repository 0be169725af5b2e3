-- The cache's paths: staged, then published with signatures, then retired. A retired path may come again.

-- name: stage_narinfo
INSERT INTO narinfo (path, state, tier, compression, file_hash, file_size, nar_hash, nar_size, "references", deriver,
                     content_address, signatures, attempt, staged_at, published_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (path) DO UPDATE
SET state = excluded.state, tier = excluded.tier, compression = excluded.compression, file_hash = excluded.file_hash,
    file_size = excluded.file_size, nar_hash = excluded.nar_hash, nar_size = excluded.nar_size,
    "references" = excluded."references", deriver = excluded.deriver, content_address = excluded.content_address,
    signatures = excluded.signatures, attempt = excluded.attempt, staged_at = excluded.staged_at,
    published_at = excluded.published_at
WHERE narinfo.state = 'retired';

-- Returns those that were staged; the guard is that it returns all.
-- name: publish_narinfos
UPDATE narinfo
SET state = 'published', signatures = entry.signatures::text[], tier = entry.tier::narinfo_tier, published_at = $4
FROM unnest($1::text[], $2::text[], $3::text[]) AS entry (path, signatures, tier)
WHERE narinfo.path = entry.path AND narinfo.state = 'staged'
RETURNING narinfo.path;

-- Returns those that were held; the guard is that it returns all.
-- name: open_narinfos
UPDATE narinfo
SET tier = 'public'
WHERE path = ANY ($1::text[]) AND state = 'published' AND tier = 'held'
RETURNING path;

-- name: load_narinfos
SELECT path, state, tier, compression, file_hash, file_size, nar_hash, nar_size, "references", deriver, content_address,
       signatures, attempt, staged_at, published_at
FROM narinfo
WHERE state <> 'retired'
ORDER BY path COLLATE "C";
