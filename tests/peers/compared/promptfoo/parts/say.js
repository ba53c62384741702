module.exports = class {
  constructor(options) { this.config = options.config ?? {}; }
  id() { return "say"; }
  async callApi(prompt, context) {
    return { output: `js ${prompt} q=${context.vars.q} ${this.config.suffix ?? ""}` };
  }
};
