// Searches the built site with its own program: node search.mjs SITE < [queries] > [[locations]]
import { readdirSync, readFileSync } from "node:fs";
import vm from "node:vm";

const site = process.argv[2];
const workers = `${site}/assets/javascripts/workers`;
const name = readdirSync(workers).find((each) => /^search\..*\.js$/.test(each));
const index = JSON.parse(readFileSync(`${site}/search.json`, "utf8"));
let reply;
const self = { postMessage: (message) => reply(message) };
vm.runInNewContext(readFileSync(`${workers}/${name}`, "utf8"), { self, Intl });

// As the site's own script speaks to its worker: 0 is the index, 2 a query
const send = (type, data) => new Promise((done) => {
  reply = (message) => done(message.data);
  self.onmessage({ data: { type, data } });
});

await send(0, index);
const filter = () => ({ input: { type: "operator", data: { operator: "and", operands: [] } },
  aggregation: { input: [] } }); // a query changes it
const found = [];
for (const input of JSON.parse(readFileSync(0, "utf8"))) {
  const { items } = await send(2, { input, filter: filter() });
  found.push(items.map((each) => index.items[each.id].location));
}
console.log(JSON.stringify(found));
