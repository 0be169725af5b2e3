-- Of evaluations whose matrix derives its package list: the list, of the tree of one revision.
CREATE TABLE derived_list (
  evaluation bigint PRIMARY KEY REFERENCES evaluation,
  revision text NOT NULL CHECK (revision <> ''),
  packages text[] NOT NULL,
  notes text[] NOT NULL,
  complete boolean NOT NULL
);
