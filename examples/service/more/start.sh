#!/bin/sh
# Starts the service of orders in the background, with a database of its own, and the bot in the
# foreground. Both end with the run: they are in one process group.
set -e
python3 orders.py --port "$PORT_ORDERS" --database "orders-$PORT_ORDERS.db" &
exec env PYTHONPATH=../.deps ORDERS="http://127.0.0.1:$PORT_ORDERS" python3 ../bot.py --port "$PORT"
