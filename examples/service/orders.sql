CREATE TABLE orders (id TEXT PRIMARY KEY, state TEXT);
INSERT INTO orders VALUES ('4711', 'on its way'), ('4712', 'delivered');
