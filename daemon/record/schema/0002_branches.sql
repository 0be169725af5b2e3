-- One evaluation is of one branch, and perhaps of another revision than that branch's head.
ALTER TABLE evaluation
  ADD COLUMN branch text NOT NULL DEFAULT '',
  ADD COLUMN wanted_revision text NOT NULL DEFAULT '';

CREATE INDEX evaluation_newest_of_branch ON evaluation (matrix, branch, id DESC);
