// Runs promptfoo's own JavaScript for rubric-ci; written by `rubric-ci import`, needs nothing else.
// Checks: `node promptfoo_shim.mjs` as a code judge. Providers: with FILE[:NAME] and the prompt.
// All checks of a test: `--all`, or `--mean THRESHOLD`, as the aggregator of a composite.
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

globalThis.require ??= createRequire(resolve("promptfoo.cjs"));

async function load(reference) {
  const [, file, name] = /^(.*?\.[cm]?js)(?::(\w+))?$/.exec(reference.replace(/^file:\/\//, ""));
  const found = await import(pathToFileURL(resolve(file)).href);
  const inner = found.default ?? found;
  return name ? (found[name] ?? inner[name]) : (inner.default ?? inner);
}

async function checked(check, output, context) {
  const source = check.value;
  if (source.startsWith("file://")) return (await load(source))(output, context);
  const body = source.trim().includes("\n") ? source : `return (${source.trim().replace(/;$/, "")})`;
  const AsyncFunction = (async () => {}).constructor;
  return new AsyncFunction("output", "context", body)(output, context);
}

function judged(result, threshold) {
  if (typeof result === "boolean") return [result, "", Number(result)];
  if (typeof result === "number") {
    return [threshold === undefined ? result > 0 : result >= threshold, `score ${result}`, result];
  }
  if (typeof result !== "object" || result === null || typeof result.pass !== "boolean") {
    throw new Error(`returned ${JSON.stringify(result)}, neither a boolean, a number nor {pass}`);
  }
  const reached = threshold === undefined || result.score >= threshold;
  return [result.pass && reached, result.reason ?? "", result.score ?? Number(result.pass)];
}

async function grade(given) {
  const { checks, vars, mean } = given.config;
  const assertions = [];
  const scores = [];
  for (const check of checks) {
    const context = { vars, prompt: given.question, config: check.config, test: { vars } };
    let passed = false;
    let evidence = "";
    let score = 0;
    try {
      const result = await checked(check, given.output, context);
      [passed, evidence, score] = judged(result, check.threshold);
      if (check.not) [passed, score] = [!passed, Number(!passed)];
    } catch (error) {
      evidence = String(error); // a check that throws fails, as in promptfoo
    }
    const weight = check.weight ?? 1;
    scores.push({ weight, score });
    assertions.push({ text: check.name, passed: passed || weight === 0, evidence });
  }
  const all = assertions.every((each) => each.passed) ? 1 : 0;
  return { score: mean ? weighted(scores) : all, assertions };
}

function weighted(scores) {
  const total = scores.reduce((sum, each) => sum + each.weight, 0);
  return scores.reduce((sum, each) => sum + each.weight * each.score, 0) / (total || 1);
}

function aggregated(members, threshold) {
  if (threshold === undefined) return members.every((each) => each.verdict === "pass") ? 1 : 0;
  return weighted(members) + 1e-9 >= threshold ? 1 : 0;
}

async function answer(reference, prompt) {
  let provider = await load(reference);
  if (typeof provider === "function" && provider.prototype?.callApi) provider = new provider({});
  const call = typeof provider === "function" ? provider : provider.callApi.bind(provider);
  const { output, error } = await call(prompt, { vars: {}, prompt: { raw: prompt } }, {});
  if (error) throw new Error(error);
  return typeof output === "string" ? output : JSON.stringify(output);
}

const [reference, prompt] = process.argv.slice(2);
if (reference === "--all" || reference === "--mean") {
  const { results } = JSON.parse(readFileSync(0, "utf8"));
  const limit = prompt === undefined ? undefined : Number(prompt);
  process.stdout.write(JSON.stringify({ score: aggregated(Object.values(results), limit) }));
} else if (reference) {
  process.stdout.write(await answer(reference, prompt));
} else {
  process.stdout.write(JSON.stringify(await grade(JSON.parse(readFileSync(0, "utf8")))));
}
