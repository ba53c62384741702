#!/bin/sh
# Starts a database and a search service in the background, and the bot in the foreground.
# All of them end with the run: they are in one process group.
set -e
mkdir -p "data-$PORT_DB"
initdb --auth trust --pgdata "data-$PORT_DB" >/dev/null
postgres -D "data-$PORT_DB" -p "$PORT_DB" -c unix_socket_directories='' &
python3 search.py --port "$PORT_SEARCH" --database "postgres://127.0.0.1:$PORT_DB/postgres" &
exec python3 bot.py --port "$PORT"
