import { appendFileSync, existsSync, readFileSync } from "node:fs";
const name = process.argv[2];
appendFileSync(`${name}.made`, "by the agent\n");
process.stdout.write(["all.txt", `${name}.each`].map((file) => (existsSync(file) ? readFileSync(file, "utf8") : "-")).join("|"));
