"""The service of orders behind HTTP, with a database of its own: `GET /4711`."""

import argparse
import sqlite3
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


class Orders(BaseHTTPRequestHandler):
    """Replies with the state of an order."""

    database = ""

    def do_GET(self) -> None:
        """Look the order up."""
        with sqlite3.connect(self.database) as database:
            order = self.path.strip("/")
            row = database.execute("SELECT state FROM orders WHERE id = ?", (order,)).fetchone()
        text = (row[0] if row else "unknown").encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)


def main() -> None:
    """Create the database and listen on the port of the command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int)
    parser.add_argument("--database")
    words = parser.parse_args()
    Orders.database = words.database
    script = Path(__file__).parents[1] / "orders.sql"
    with sqlite3.connect(words.database) as database:
        database.executescript(script.read_text(encoding="utf-8"))
    ThreadingHTTPServer(("127.0.0.1", words.port), Orders).serve_forever()


if __name__ == "__main__":
    main()
