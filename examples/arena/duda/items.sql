-- SPDX-License-Identifier: Apache-2.0
-- The table of the benchmark, with made-up items.
CREATE TABLE items (id integer PRIMARY KEY, name text NOT NULL, category text NOT NULL, price integer NOT NULL,
                    quantity integer NOT NULL, active boolean NOT NULL, tags jsonb NOT NULL, rating_score integer NOT NULL,
                    rating_count integer NOT NULL);
INSERT INTO items SELECT n, 'item ' || n, (ARRAY['books', 'toys', 'tools', 'food'])[1 + n % 4], n * 7 % 500, n % 50, n % 2 = 0,
                         '["fast", "new"]', n % 50, n % 1000
                  FROM generate_series(1, 100000) AS n;
