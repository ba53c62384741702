import { readFileSync } from "node:fs";
const prompt = process.argv[2] ?? "";
const answers = {
  yes: "yes", spaced: " yes \n", json: '{"a": 1}', fence: '```json\n{"a": 1}\n```', list: "[1, 2]", number: "42",
  text: "Refunds take 30 days.\nAsk Ann.", empty: "",
};
const key = Object.keys(answers).find((each) => prompt.includes(each));
if (prompt.includes("tools")) {
  const tool_calls = [{ tool: "search", input: { q: "tea" }, output: "found" }, { tool: "buy", input: { n: 2 } }];
  const messages = [{ role: "user", content: "tools" }, { role: "assistant", content: "", tool_calls }, { role: "assistant", content: "Bought tea" }];
  process.stdout.write(JSON.stringify({ output: messages, token_usage: { input: 10, output: 5 }, cost_usd: 0.01, duration_ms: 20 }));
} else if (prompt.includes("said")) {
  process.stdout.write(JSON.stringify({ output: [{ role: "assistant", content: "I search for tea" }] }));
} else process.stdout.write(answers[key] ?? prompt);
