-- The rows of a warehouse of Parquet files that count: the latest of each day, and of each
-- website. Put your folder in place of /srv/parquet, your dataset in place of web, and
-- leave out the lists that you do not load.

CREATE VIEW websites AS
SELECT * FROM read_parquet('/srv/parquet/web/websites/*.parquet')
QUALIFY listed_at = max(listed_at) OVER (PARTITION BY hostname);

CREATE VIEW coverage AS
SELECT * FROM read_parquet('/srv/parquet/web/coverage/*.parquet')
QUALIFY checked_at = max(checked_at) OVER (PARTITION BY hostname);

CREATE VIEW runs AS
SELECT * FROM read_parquet('/srv/parquet/web/runs/*.parquet')
QUALIFY ended_at = max(ended_at) OVER (PARTITION BY began_at);

CREATE VIEW days AS
SELECT * FROM read_parquet('/srv/parquet/web/days/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day);

CREATE VIEW months AS
SELECT * FROM read_parquet('/srv/parquet/web/months/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day);

-- A row of rank 0 stands for an empty list.
CREATE VIEW pages AS
SELECT * FROM read_parquet('/srv/parquet/web/pages/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW countries AS
SELECT * FROM read_parquet('/srv/parquet/web/countries/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW referrers AS
SELECT * FROM read_parquet('/srv/parquet/web/referrers/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW utm_sources AS
SELECT * FROM read_parquet('/srv/parquet/web/utm_sources/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW utm_mediums AS
SELECT * FROM read_parquet('/srv/parquet/web/utm_mediums/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW utm_campaigns AS
SELECT * FROM read_parquet('/srv/parquet/web/utm_campaigns/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW utm_contents AS
SELECT * FROM read_parquet('/srv/parquet/web/utm_contents/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW utm_terms AS
SELECT * FROM read_parquet('/srv/parquet/web/utm_terms/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW browser_names AS
SELECT * FROM read_parquet('/srv/parquet/web/browser_names/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW os_names AS
SELECT * FROM read_parquet('/srv/parquet/web/os_names/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW device_types AS
SELECT * FROM read_parquet('/srv/parquet/web/device_types/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;

CREATE VIEW events AS
SELECT * FROM read_parquet('/srv/parquet/web/events/*.parquet')
QUALIFY read_at = max(read_at) OVER (PARTITION BY hostname, first_day)
AND rank > 0;
