// In place of a model.
module.exports = class {
  id() {
    return "shop";
  }
  async callApi(prompt) {
    const output = prompt.includes("pays") ? "The shop pays." : "Refunds are possible for 30 days.";
    return { output };
  }
};
