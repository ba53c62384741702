module.exports = (output, context) => ({
  pass: /^\S.*\.$/.test(output),
  score: 1,
  reason: `a sentence about: ${context.vars.question}`,
});
