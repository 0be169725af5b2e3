-- What checks took is read at start, as what steps took: without a look at every attempt there ever was.
CREATE INDEX attempt_newest_check_success ON attempt (id DESC) WHERE outcome = 'succeeded' AND check_key IS NOT NULL;
