import { existsSync, readFileSync } from "node:fs";
const given = JSON.parse(readFileSync(0, "utf8"));
const [where, word] = process.argv.slice(2);
const text = { changes: given.file_changes ?? "", folder: existsSync(`${given.workspace_path}/${word}`) ? word : "" }[where];
console.log(text.includes(word) ? "there" : "not there");
process.exit(text.includes(word) ? 0 : 3);
