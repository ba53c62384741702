module.exports = class {
  id() { return "objects"; }
  async callApi(prompt) {
    const outputs = {
      object: { a: 1, text: "hi" }, list: [1, 2], text: '{"text": "hi"}', number: 7, plain: " plain ",
      empty: "", line: "line\n", fence: '```json\n{"a": 1}\n```',
    };
    return prompt === "error" ? { error: "no answer" } : { output: outputs[prompt] };
  }
};
