import { readFileSync } from "node:fs";
const given = JSON.parse(readFileSync(0, "utf8"));
const word = given.config?.word ?? "";
const output = typeof given.output === "string" ? given.output : given.output_text ?? JSON.stringify(given.output);
const passed = output.includes(word);
console.log(JSON.stringify(word === "half" ? { score: 0.5, assertions: [] } : { score: passed ? 1 : 0, assertions: [{ text: word, passed }] }));
