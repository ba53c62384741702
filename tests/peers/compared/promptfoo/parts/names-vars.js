module.exports = class {
  id() {
    return "names-vars";
  }
  async callApi(prompt, context) {
    return { output: `${context.vars.q}|${prompt}` };
  }
};
