module.exports = class {
  id() {
    return "shop";
  }
  async callApi(prompt) {
    return { output: prompt.includes("refunds") ? "Refunds take 30 days." : "Sorry, no." };
  }
};
