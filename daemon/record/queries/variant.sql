-- Each row's lists come as one text in array form: unnest() would flatten an array of arrays.

-- name: save_variants
INSERT INTO variant (evaluation, id, ordinal, package, slice, cause, message, derivation, output_names, output_paths,
                     environment, environment_output)
SELECT evaluation, id, ordinal, package, slice::json, cause, message, derivation, output_names::text[],
       output_paths::text[], environment, environment_output
FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::cause[], $7::text[], $8::text[],
            $9::text[], $10::text[], $11::text[], $12::text[])
  AS row (evaluation, id, ordinal, package, slice, cause, message, derivation, output_names, output_paths, environment,
          environment_output)
ON CONFLICT (evaluation, id) DO UPDATE
SET ordinal = excluded.ordinal, package = excluded.package, slice = excluded.slice, cause = excluded.cause,
    message = excluded.message, derivation = excluded.derivation, output_names = excluded.output_names,
    output_paths = excluded.output_paths, environment = excluded.environment,
    environment_output = excluded.environment_output
RETURNING id;

-- name: load_variants
SELECT evaluation, id, ordinal, package, slice, cause, message, derivation, output_names, output_paths, environment,
       environment_output
FROM variant
WHERE evaluation = ANY ($1::bigint[])
ORDER BY evaluation, ordinal, id COLLATE "C";
