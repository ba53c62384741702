// Marks by a table, for AgentV's prompt (an argument) and for rubric-ci's (standard input).
import { readFileSync } from "node:fs";
const theirs = process.argv[2];
const prompt = theirs ?? readFileSync(0, "utf8");
const said = { "Refunds take 30 days": true, "Ann is named": true, "Refunds take 60 days": false };
const met = (outcome, guards) => said[outcome] ?? guards;
const marks = theirs
  ? [...prompt.matchAll(/^- \[(.+?)\]((?: \(.*?\))*): (.+)$/gm)].map(([, id, labels, outcome]) => [id, met(outcome, labels.includes("contradiction"))])
  : [...prompt.matchAll(/^(c\d+): .*\n {4}(.*: )?(.+)$/gm)].map(([, id, guard, outcome]) => [id, met(outcome, Boolean(guard))]);
const checks = marks.map(([id, satisfied]) => ({ id, satisfied, reasoning: "by the table" }));
console.log(JSON.stringify({ checks, overall_reasoning: "" }));
