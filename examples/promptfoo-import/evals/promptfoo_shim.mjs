// Runs promptfoo's own JavaScript for rubric-ci; written by `rubric-ci import`, needs nothing else.
// Checks: `node promptfoo_shim.mjs` as a code judge. Providers: with FILE[:NAME], the prompt and
// their transforms, after `--vars FILE CASE` if it reads variables and `--config JSON` if it has
// settings; services with `--http REQUEST` in place of the file. Transforms for the other shim:
// `--transform SOURCE...`. A prompt is a word, or `file:PATH`. All checks of a test: `--all`, or `--mean THRESHOLD`, as the aggregator
// of a composite.
import { spawnSync } from "node:child_process";
import Module, { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

const FILE = /^file:\/\//;
const NO_MODULE = /\b(?:module|exports|require|__dirname|__filename) is not defined/;
const TEXT_OR_END = /(["'`])(?:\\.|(?!\1)[^\\])*\1|;/gs;
const TEXTS = {
  contains: (text, value) => text.includes(value),
  contains_any: (text, values) => values.some((value) => text.includes(value)),
  contains_all: (text, values) => values.every((value) => text.includes(value)),
  equals: (text, value) => (typeof value === "object" ? same(text, value) : text === String(value)),
  starts_with: (text, value) => text.startsWith(value),
  matches: (text, value) => new RegExp(value).test(text),
  is_json: (text) => parsed(text) !== undefined,
  contains_json: (text) => hasObject(text),
  word_count: (text, { min = 0, max = Infinity }) => words(text) >= min && words(text) <= max,
};

process.mainModule ??= { require: createRequire(resolve("promptfoo.cjs")) };
console.log = console.error; // standard output has the result

class Undecided extends Error {}

const same = (text, value) => isDeepStrictEqual(parsed(text), value);

// promptfoo reads what is between braces as YAML. What is no JSON may be YAML, so without any JSON
// there is no verdict.
function hasObject(text) {
  const starts = [...text.matchAll(/\{/g)].map((match) => match.index);
  if (starts.some((start) => parsed(between(text, start)) !== undefined)) return true;
  if (starts.length === 0) return false;
  throw new Undecided("braces in the answer are no JSON; promptfoo may read them as YAML");
}

// From a brace to the one that closes it; where that is missing, it is added.
function between(text, start) {
  let open = 0;
  for (let at = start; at < text.length; at += 1) {
    open += { "{": 1, "}": -1 }[text[at]] ?? 0;
    if (open === 0) return text.slice(start, at + 1);
  }
  return text.slice(start) + "}".repeat(open);
}

const words = (text) => text.split(/\s+/).filter(Boolean).length;

async function load(reference) {
  const [, file, name] = /^(.*?\.[cm]?[jt]s)(?::(\w+))?$/.exec(reference.replace(FILE, ""));
  const found = await imported(resolve(file));
  const inner = found.default ?? found;
  return name ? (found[name] ?? inner[name]) : (inner.default ?? inner);
}

async function imported(file) {
  const url = pathToFileURL(file).href;
  if (!file.endsWith("ts") || process.features.typescript) {
    return import(url).catch((error) => asCommonJs(file, error));
  }
  let tsx;
  try {
    tsx = createRequire(file).resolve("tsx/esm/api");
  } catch {
    const remedy = "use node 22.18 or later, or `npm install tsx` in the folder of the file";
    throw new Error(`node ${process.version} cannot run TypeScript; ${remedy}: ${file}`);
  }
  return (await import(pathToFileURL(tsx).href)).tsImport(url, import.meta.url);
}

// As promptfoo does, read CommonJS in a package of modules.
function asCommonJs(file, error) {
  if (!(file.endsWith(".js") && NO_MODULE.test(error.message))) throw error;
  const made = new Module(file);
  made.filename = file;
  made.paths = Module._nodeModulePaths(dirname(file));
  made._compile(readFileSync(file, "utf8"), file);
  return { default: made.exports, ...made.exports };
}

// A text with a line break is the body of a function, and any other a value, also after
// declarations; a check is read without white space at its ends. No text can wait for a promise.
const compiled = (source) => made(source.trim().includes("\n"), source);
const compiledTransform = (source) => made(source.includes("\n"), source);

function made(isBody, source) {
  const code = source.trim().replace(/;+$/, "");
  const made = (body) => new Function("output", "context", body);
  if (isBody) return made(source);
  if (!/^(?:const|let|var)\s/.test(code)) return made(`return ${code}`);
  const end = [...code.matchAll(TEXT_OR_END)].findLast(([token]) => token === ";")?.index ?? -1;
  return made(`${code.slice(0, end + 1)} return ${code.slice(end + 1)}`);
}

async function transformed(sources, output, context) {
  let result = output;
  for (const source of sources) {
    const file = FILE.test(source);
    if (file && /\.py(?::\w+)?$/.test(source)) {
      result = inPython(source, result, context);
    } else {
      result = await (file ? await load(source) : compiledTransform(source))(result, context);
    }
    if (result === undefined || result === null) throw new Error(`transform without a result: ${source}`);
  }
  return result;
}

function inPython(source, output, context) {
  const shim = fileURLToPath(new URL("promptfoo_shim.py", import.meta.url));
  const input = JSON.stringify({ output, context });
  const done = spawnSync("python3", [shim, "--transform", source], { input, encoding: "utf8" });
  if (done.status !== 0) throw done.error ?? new Error(done.stderr);
  return JSON.parse(done.stdout);
}

async function evaluated(check, output, context) {
  if (check.value !== undefined) return compiled(check.value)(output, context);
  const cased = (value) => (check.ignore_case ? String(value).toLowerCase() : value);
  const text = cased(typeof output === "string" ? output : JSON.stringify(output));
  const [key, value] = Object.entries(check).find(([name]) => name in TEXTS);
  return TEXTS[key](text, Array.isArray(value) ? value.map(cased) : cased(value));
}

function judged(result, { threshold, not = false }) {
  if (typeof result === "boolean") return [result !== not, "", Number(result !== not)];
  if (typeof result === "number") {
    const reached = threshold === undefined ? result > 0 : result >= threshold;
    return [reached !== not, `score ${result}`, result];
  }
  const { pass, score, reason } = result ?? {};
  if (typeof pass !== "boolean" || typeof score !== "number" || typeof reason !== "string") {
    const known = "a boolean, a number nor {pass, score, reason}";
    throw new Error(`returned ${JSON.stringify(result)}, neither ${known}`);
  }
  return [pass !== not, reason, score];
}

// As in promptfoo, what a file throws is an error, and a text that throws is a failed check.
async function outcome(check, output, context) {
  const file = FILE.test(check.value);
  const result = file ? await (await load(check.value))(output, context) : undefined;
  try {
    return judged(file ? result : await evaluated(check, output, context), check);
  } catch (error) {
    if (error instanceof Undecided) throw error;
    return [false, String(error), 0];
  }
}

async function grade(given) {
  const { checks, vars, mean } = given.config;
  const prompt = { raw: given.question, label: given.question };
  const assertions = [];
  const scores = [];
  for (const check of checks) {
    const output = await transformed(check.transform ?? [], written(given), { vars, prompt });
    const context = { vars, prompt: given.question, config: check.config, test: { vars } };
    const [passed, evidence, score] = await outcome(check, output, context);
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

async function answer(vars, config, reference, prompt, transforms) {
  let provider = await load(reference);
  const options = { id: reference, config };
  if (typeof provider === "function" && provider.prototype?.callApi) provider = new provider(options);
  const call = typeof provider === "function" ? provider : provider.callApi.bind(provider);
  const context = { vars, prompt: { raw: prompt, label: prompt } };
  const { output, error } = await call(prompt, context, {});
  if (error) throw new Error(error);
  return printed(await transformed(transforms.map(argument), output, context));
}

// A status that is no success is an error: promptfoo has its body as the answer.
async function asked(request, vars, prompt, transforms) {
  const known = { ...vars, prompt, env: process.env };
  const { url, query, ...sent } = prepared(request, known);
  const address = new URL(url);
  for (const [name, value] of Object.entries(query)) address.searchParams.append(name, value);
  const response = await fetch(address, sent);
  const text = await response.text();
  const start = text.slice(0, 500);
  if (!response.ok) throw new Error(`${response.status} ${response.statusText}: ${start}`);
  const output = await replied(request.reader, parsed(text) ?? null, text, response);
  if (output === undefined || output === null) throw new Error(`no answer in the reply: ${start}`);
  const context = { vars, prompt: { raw: prompt, label: prompt } };
  return printed(await transformed(transforms.map(argument), output, context));
}

function contentType(method, body) {
  if (method === "GET" || body === undefined) return {};
  const kind = typeof body === "object" ? "json" : "x-www-form-urlencoded";
  return { "content-type": `application/${kind}` };
}

function prepared({ url, method, headers = {}, queryParams = {}, body }, known) {
  const given = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]);
  const named = filled({ ...contentType(method, body), ...Object.fromEntries(given) }, known);
  const isJson = named["content-type"]?.includes("application/json");
  const made = isJson ? jsonBody(body, known) : String(filled(body, known)).trim();
  const sent = method === "GET" || body === undefined ? {} : { body: made };
  const query = filled(queryParams, known);
  return { url: filled(url, known), query, method, headers: named, ...sent };
}

// Texts in a body that are data in JSON are sent as data.
function jsonBody(body, known) {
  const template = typeof body === "string" ? (parsed(body) ?? body) : body;
  const made = nested(filled(template, known));
  if (typeof made !== "string") return JSON.stringify(made);
  const escaped = filled(template, known, (value) => JSON.stringify(String(value)).slice(1, -1));
  return parsed(made) === undefined && parsed(escaped) !== undefined ? escaped : made;
}

function nested(value) {
  if (typeof value === "object" && value !== null) return each(value, nested);
  return typeof value === "string" && /^\s*[[{]/.test(value) ? (parsed(value) ?? value) : value;
}

const each = (value, change) =>
  Array.isArray(value)
    ? value.map(change)
    : Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner)]));

const VARIABLE =
  /\{\{-?\s*([\w.]+)\s*(?:\|\s*(?:(dump)|safe|default\((?:'([^'{}]*)'|"([^"{}]*)")\))\s*)?-?\}\}/g;

function filled(value, known, changed = String) {
  if (typeof value === "object" && value !== null) {
    return each(value, (inner) => filled(inner, known, changed));
  }
  if (typeof value !== "string") return value;
  return value.replace(VARIABLE, (_, path, dump, one = "", two = one) => {
    const found = path.split(".").reduce((owner, step) => owner?.[step], known);
    return dump ? (JSON.stringify(found) ?? "") : changed((found === undefined ? two : found) ?? "");
  });
}

async function replied(reader, json, text, response) {
  if (!reader) return json || text;
  const headers = Object.fromEntries(response.headers);
  const { status, statusText } = response;
  const context = { response: { data: text, status, statusText, headers } };
  const read = FILE.test(reader) ? await load(reader) : reading(reader);
  const result = await read(json, text, context, process);
  if (typeof result !== "object" || result === null || Array.isArray(result)) return result;
  if (result.error) throw new Error(result.error);
  return "output" in result ? result.output : result;
}

function reading(reader) {
  const named = /^(\(.*?\)\s*=>|function\s*\(.*?\))/.test(reader);
  const body = named ? `return (${reader})(json, text, context)` : `return (${reader})`;
  return new Function("json", "text", "context", "process", body);
}

// An answer in JSON, or with white space at its ends, is the text of an object, because rubric-ci
// reads measurements from a bare one. One that is no text is also the content of a message.
function printed(output) {
  if (typeof output !== "string") {
    const message = { role: "assistant", content: output };
    return JSON.stringify({ text: JSON.stringify(output), output_messages: [message] });
  }
  const plain = parsed(output) === undefined && output === output.trim();
  return plain ? output : JSON.stringify({ text: output });
}

// Checks by code get again what a provider gave, if it is no text.
function written({ output, messages = [] }) {
  const content = messages.at(-1)?.content ?? output;
  return typeof content !== "string" && JSON.stringify(content) === output ? content : output;
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// `~22` is `"` in a text of a command line: no two shells take such signs alike.
const argument = (text) =>
  text.replace(/~([0-9a-f]{2})/g, (_, code) => String.fromCharCode(parseInt(code, 16)));

const word = (text) => (/^file:(?!\/\/)/.test(text) ? readFileSync(text.slice(5), "utf8") : text);

// `prompt` is in place of a text that stands for an empty one.
async function main(words, vars = {}, prompt = undefined) {
  const [first, second, ...others] = words;
  if (first === "--vars") {
    const { __prompt: prompt, ...known } = JSON.parse(readFileSync(second, "utf8"))[others[0]];
    return main(others.slice(1), known, prompt);
  }
  if (first === "--config") {
    const config = JSON.parse(argument(second));
    return answer(vars, config, argument(others[0]), prompt ?? word(others[1]), others.slice(2));
  }
  if (first === "--http") {
    return asked(JSON.parse(argument(second)), vars, prompt ?? word(others[0]), others.slice(1));
  }
  const given = () => JSON.parse(readFileSync(0, "utf8"));
  if (first === "--all" || first === "--mean") {
    const limit = second === undefined ? undefined : Number(second);
    return JSON.stringify({ score: aggregated(Object.values(given().results), limit) });
  }
  if (first === "--transform") {
    const { output, context } = given();
    return JSON.stringify(await transformed(words.slice(1), output, context));
  }
  if (!first) return JSON.stringify(await grade(given()));
  return answer(vars, {}, argument(first), prompt ?? word(second), others);
}

try {
  process.stdout.write(await main(process.argv.slice(2)));
} catch (error) {
  process.stderr.write(`${error}\n`);
  process.exitCode = 1;
}
