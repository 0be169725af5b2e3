-- Whom a published path is served to. What was published before stays public, as it was.

CREATE TYPE narinfo_tier AS ENUM ('public', 'private', 'held');

ALTER TABLE narinfo ADD COLUMN tier narinfo_tier NOT NULL DEFAULT 'public';
ALTER TABLE narinfo ALTER COLUMN tier DROP DEFAULT;
