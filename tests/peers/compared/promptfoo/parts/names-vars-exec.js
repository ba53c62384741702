const { vars } = JSON.parse(process.argv[4]);
console.log(`${vars.q}|${process.argv[2]}`);
