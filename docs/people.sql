-- people.sql -- 40,000 people, joined with themselves by name; for sqlite3, in the manual.
-- Part of tlbgrind.  GPL-2.0-or-later; see COPYING.
CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT);
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40000)
INSERT INTO person SELECT i, hex(i * 7919 % 40009) FROM n;
CREATE INDEX by_name ON person(name);
SELECT count(*), sum(b.id) FROM person a JOIN person b ON b.name = hex(a.id * 31 % 40009);
