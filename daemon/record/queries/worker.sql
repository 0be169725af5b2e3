-- Workers that ever connected. Revoked is final.

-- name: save_worker
INSERT INTO worker (name, systems, features, cores, memory_bytes, slots, version, nix_version, drained_by_operator, revoked,
                    seen_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (name) DO UPDATE
SET systems = excluded.systems, features = excluded.features, cores = excluded.cores,
    memory_bytes = excluded.memory_bytes, slots = excluded.slots, version = excluded.version,
    nix_version = excluded.nix_version, drained_by_operator = excluded.drained_by_operator, revoked = excluded.revoked,
    seen_at = excluded.seen_at
WHERE excluded.revoked OR NOT worker.revoked;

-- name: drop_worker_gpus
DELETE FROM worker_gpu
WHERE worker = $1;

-- name: save_worker_gpus
INSERT INTO worker_gpu (worker, ordinal, uuid, name, architecture, memory_bytes, driver, simulated)
SELECT $1, ordinal, uuid, name, architecture, memory_bytes, driver, simulated
FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::boolean[]) WITH ORDINALITY
  AS row (uuid, name, architecture, memory_bytes, driver, simulated, ordinal);

-- name: load_workers
SELECT name, systems, features, cores, memory_bytes, slots, version, nix_version, drained_by_operator, revoked, seen_at
FROM worker
ORDER BY name COLLATE "C";

-- name: load_worker_gpus
SELECT worker, uuid, name, architecture, memory_bytes, driver, simulated
FROM worker_gpu
ORDER BY worker COLLATE "C", ordinal;
