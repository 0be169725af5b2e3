-- Each row's lists come as one text in array form: unnest() would flatten an array of arrays.

-- name: save_variants
INSERT INTO variant (evaluation, id, ordinal, package, slice, cause, message, derivation, output_names, output_paths,
                     environment, environment_output, facts, tier)
SELECT evaluation, id, ordinal, package, slice::json, cause, message, derivation, output_names::text[],
       output_paths::text[], environment, environment_output, facts::json, tier
FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::cause[], $7::text[], $8::text[],
            $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[])
  AS row (evaluation, id, ordinal, package, slice, cause, message, derivation, output_names, output_paths, environment,
          environment_output, facts, tier)
ON CONFLICT (evaluation, id) DO UPDATE
SET ordinal = excluded.ordinal, package = excluded.package, slice = excluded.slice, cause = excluded.cause,
    message = excluded.message, derivation = excluded.derivation, output_names = excluded.output_names,
    output_paths = excluded.output_paths, environment = excluded.environment,
    environment_output = excluded.environment_output, facts = excluded.facts, tier = excluded.tier
RETURNING id;

-- name: load_variants
SELECT evaluation, id, ordinal, package, slice, cause, message, derivation, output_names, output_paths, environment,
       environment_output, facts, tier
FROM variant
WHERE evaluation = ANY ($1::bigint[])
ORDER BY evaluation, ordinal, id COLLATE "C";

-- name: forget_findings
DELETE FROM finding
USING unnest($1::bigint[], $2::text[]) AS row (evaluation, variant)
WHERE finding.evaluation = row.evaluation AND finding.variant = row.variant;

-- name: save_findings
INSERT INTO finding (evaluation, variant, place, rule, severity, message, path)
SELECT evaluation, variant, place, rule, severity, message, path::text[]
FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::severity[], $6::text[], $7::text[])
  AS row (evaluation, variant, place, rule, severity, message, path);

-- name: load_findings
SELECT evaluation, variant, rule, severity, message, path
FROM finding
WHERE evaluation = ANY ($1::bigint[])
ORDER BY evaluation, variant, place;
