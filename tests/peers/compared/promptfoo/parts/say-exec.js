console.log(`exec ${process.argv[2]} q=${JSON.parse(process.argv[4] ?? "{}").vars?.q}`);
