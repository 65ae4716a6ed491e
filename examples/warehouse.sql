-- Questions to the tables of the warehouse, for DuckDB and PostgreSQL:
--     duckdb -readonly sitestats.duckdb <warehouse.sql

-- Growth since the month before, in page views per day
SELECT
    hostname,
    date_trunc('month', first_day) AS month,
    sum(pageviews) AS pageviews,
    round(100 * avg(pageviews) / nullif(lag(avg(pageviews)) OVER months, 0) - 100, 1) AS growth
FROM web.days
GROUP BY hostname, month
WINDOW months AS (PARTITION BY hostname ORDER BY date_trunc('month', first_day))
ORDER BY hostname, month;

-- The top pages of a year. days_cut counts the days whose list had 1,000 pages, so that
-- others are missing
SELECT
    hostname,
    value AS page,
    sum(pageviews) AS pageviews,
    count(*) FILTER (WHERE truncated) AS days_cut
FROM web.pages
WHERE first_day BETWEEN '2026-01-01' AND '2026-12-31'
GROUP BY hostname, page
ORDER BY pageviews DESC
LIMIT 20;

-- The countries of a month, in percent of the website
SELECT
    hostname,
    coalesce(value, 'unknown') AS country,
    sum(pageviews) AS pageviews,
    round(100.0 * sum(pageviews) / sum(sum(pageviews)) OVER (PARTITION BY hostname), 1) AS share
FROM web.countries
WHERE first_day BETWEEN '2026-02-01' AND '2026-02-28'
GROUP BY hostname, country
ORDER BY hostname, pageviews DESC;
