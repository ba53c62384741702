// Unpacks the browser of @sparticuz/chromium, and the libraries that it needs, to .chromium/.
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { brotliDecompressSync } from "node:zlib";

const packed = new URL("node_modules/@sparticuz/chromium/bin/", import.meta.url);
const folder = new URL("node_modules/.chromium/", import.meta.url);
const unpack = (name) => brotliDecompressSync(readFileSync(new URL(name, packed)));

if (process.platform === "linux" && process.arch === "x64") {
  mkdirSync(folder, { recursive: true });
  execFileSync("tar", ["-x", "-C", folder.pathname], { input: unpack("al2023.tar.br") });
  writeFileSync(new URL("chromium", folder), unpack("chromium.br"), { mode: 0o755 });
}
