// Runs promptfoo's own JavaScript for rubric-ci; written by `rubric-ci import`, needs nothing else.
// Checks: `node promptfoo_shim.mjs` as a code judge. Providers: with FILE[:NAME] and the prompt.
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
  if (typeof result === "boolean") return [result, ""];
  if (typeof result === "number") {
    return [threshold === undefined ? result > 0 : result >= threshold, `score ${result}`];
  }
  if (typeof result !== "object" || result === null || typeof result.pass !== "boolean") {
    throw new Error(`returned ${JSON.stringify(result)}, neither a boolean, a number nor {pass}`);
  }
  const reached = threshold === undefined || result.score >= threshold;
  return [result.pass && reached, result.reason ?? ""];
}

async function grade(given) {
  const { checks, vars } = given.config;
  const assertions = [];
  for (const check of checks) {
    const context = { vars, prompt: given.question, config: check.config, test: { vars } };
    let passed = false;
    let evidence = "";
    try {
      [passed, evidence] = judged(await checked(check, given.output, context), check.threshold);
      if (check.not) passed = !passed;
    } catch (error) {
      evidence = String(error); // a check that throws fails, as in promptfoo
    }
    assertions.push({ text: check.name, passed, evidence });
  }
  return { score: assertions.every((each) => each.passed) ? 1 : 0, assertions };
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
if (reference) {
  process.stdout.write(await answer(reference, prompt));
} else {
  process.stdout.write(JSON.stringify(await grade(JSON.parse(readFileSync(0, "utf8")))));
}
