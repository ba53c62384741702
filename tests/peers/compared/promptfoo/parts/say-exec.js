console.log(`exec ${process.argv[2]}`);
