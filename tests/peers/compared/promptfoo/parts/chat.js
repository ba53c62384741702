module.exports = class {
  id() { return "chat"; }
  async callApi(prompt) {
    try {
      const messages = JSON.parse(prompt);
      return { output: `${messages.map((each) => each.role)}: ${messages.at(-1).content}` };
    } catch {
      return { output: prompt };
    }
  }
};
