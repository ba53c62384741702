module.exports = (output) => `TOTAL ${JSON.parse(output).total}`;
