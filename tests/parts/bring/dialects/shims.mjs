// Runs the shim in a thread for each list of words of the standard input; prints how each ended.
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { Worker } from "node:worker_threads";

async function ended([shim, ...argv]) {
  const thread = new Worker(shim, { argv, stdout: true, stderr: true });
  const code = new Promise((resolve) => thread.on("exit", resolve));
  return Promise.all([code, text(thread.stdout), text(thread.stderr)]);
}

const runs = JSON.parse(readFileSync(0));
console.log(JSON.stringify(await Promise.all(runs.map(ended))));
