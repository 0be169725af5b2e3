-- What an evaluation learned of a variant beside its derivation. Rows of before know nothing.

CREATE TYPE severity AS ENUM ('warn', 'refuse');

ALTER TABLE variant ADD COLUMN facts json,
                    ADD COLUMN tier text CHECK (tier IN ('public', 'private'));

CREATE TABLE finding (
  evaluation bigint NOT NULL,
  variant text NOT NULL,
  place integer NOT NULL CHECK (place >= 0),  -- among those of its variant
  rule text NOT NULL CHECK (rule <> ''),
  severity severity NOT NULL,
  message text NOT NULL,
  path text[] NOT NULL,
  PRIMARY KEY (evaluation, variant, place),
  FOREIGN KEY (evaluation, variant) REFERENCES variant (evaluation, id)
);
