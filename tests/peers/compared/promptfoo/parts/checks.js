module.exports = (output, context) => Number(output.split(" ")[1]) > context.vars.limit;
module.exports.short = (output) => output.length < 5;
module.exports.configured = (output, context) => output.includes(context.config.word);
