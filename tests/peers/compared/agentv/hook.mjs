import { appendFileSync, readFileSync } from "node:fs";
const given = JSON.parse(readFileSync(0, "utf8"));
const [moment, place] = process.argv.slice(2);
const name = moment === "all" ? "all.txt" : `${given.case_input}.${moment}`;
const facts = [given.test_id, given.case_input, JSON.stringify(given.case_metadata), place === given.workspace_path];
appendFileSync(`${given.workspace_path}/${name}`, facts.join(" "));
