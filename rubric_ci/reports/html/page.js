"use strict";

// Filters, sorts and opens the cases of a report. Each case is the text of a <noscript>, escaped by
// rubric-ci; it becomes elements when its page of the list is shown, and its body when it is opened.
(() => {
  const PAGE = 100; // cases in the document at once
  const STATUSES = ["fail", "errored", "borderline", "waived", "pass", "skipped"];
  const CHOICES = ["file", "tag", "criterion", "change"];
  const NAMED_CRITERIA = 500; // choices of a filter
  const LABELS = /<(h4|th|small|summary|a)\b[^<>]*>(?:(?!<\/\1>).)*<\/\1>/gs;
  const INLINE = /<\/?(?:mark|code|del|ins|b|span)\b[^<>]*>/g;

  const data = JSON.parse(byId("data").textContent);
  const sources = document.querySelectorAll("#cases > noscript");
  const form = byId("filters");
  const list = document.createElement("div");
  const built = new Map(); // elements by position of the case on the page
  const texts = []; // what a search reads, by position
  let shown = []; // positions of the cases that the filters leave, in order
  let page = 0;
  let current = null; // the case that a key or a link has led to

  const SORTS = {
    urgent: () => 0,
    file: (a, b) => a.position - b.position,
    lowest: (a, b) => (a.score ?? 2) - (b.score ?? 2),
    highest: (a, b) => (b.score ?? -1) - (a.score ?? -1),
    drop: (a, b) => (a.difference ?? 2) - (b.difference ?? 2),
    cost: (a, b) => b.cost - a.cost,
    name: (a, b) => a.id.localeCompare(b.id, undefined, { numeric: true }),
  };

  const VALUES = { // of the filters that are counted
    file: (each) => [each.file],
    tag: (each) => each.tags,
    change: (each) => each.changes,
  };

  function byId(id) {
    return document.getElementById(id);
  }

  // Cases as elements

  function build(at) {
    if (!built.has(at)) {
      const shell = document.createElement("template");
      shell.innerHTML = sources[at].textContent;
      built.set(at, withLateBody(shell.content.firstElementChild));
    }
    return built.get(at);
  }

  function withLateBody(details) {
    const body = details.lastElementChild;
    const attach = () => details.append(body);
    if (!details.open) {
      body.remove();
      details.addEventListener("toggle", attach, { once: true });
    }
    details.attach = attach;
    return details;
  }

  function open(details) {
    details.attach();
    details.open = true;
  }

  function inflate(details) {
    const source = details.querySelector("noscript");
    if (source) {
      const shell = document.createElement("template");
      shell.innerHTML = source.textContent;
      source.replaceWith(shell.content);
    }
  }

  // Filters

  function textOf(at) {
    texts[at] ??= sources[at].textContent
      .replace(/<small>⚠/g, "<i>⚠")
      .replace(LABELS, (label, tag) => (tag === "summary" ? label : "\n"))
      .replace(INLINE, "").replace(/<[^<>]*>/g, "\n").toLowerCase();
    return texts[at];
  }

  function escaped(text) {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
      .replace(/"/g, "&quot;").replace(/'/g, "&#x27;").toLowerCase();
  }

  function wanted() {
    const given = new FormData(form);
    const criterion = given.get("criterion");
    return {
      words: escaped(given.get("q").trim()),
      show: given.get("show"),
      file: given.get("file"),
      tag: given.get("tag"),
      change: given.get("change"),
      criterion: criterion && data.criteria.findIndex(([name]) => name === criterion),
      missed: given.has("missed"),
    };
  }

  function matches(at, want) {
    const each = data.cases[at];
    return (want.show === "all" || each.status === want.show)
      && (!want.file || each.file === want.file)
      && (!want.tag || each.tags.includes(want.tag))
      && (!want.change || each.changes.includes(want.change))
      && (want.criterion === "" || (want.missed ? each.missed : each.criteria).includes(want.criterion))
      && (!want.words || textOf(at).includes(want.words));
  }

  function apply() {
    const want = wanted();
    const compare = SORTS[form.elements.sort.value];
    shown = found(want).sort((a, b) => compare(data.cases[a], data.cases[b]) || a - b);
    form.elements.missed.parentElement.hidden = want.criterion === "";
    countChoices(want);
    turnTo(0);
  }

  function found(want) {
    return data.cases.map((_, at) => at).filter((at) => matches(at, want));
  }

  // How many cases each choice would leave, given the other filters

  function countChoices(want) {
    const verdicts = counts(found({ ...want, show: "all" }).map((at) => data.cases[at].status));
    for (const each of form.elements.show) {
      const label = each.parentElement.lastChild;
      label.data = label.data.replace(/[\d,]+/, digits(verdicts.get(each.value) ?? 0));
    }
    for (const [name, of] of Object.entries(VALUES)) {
      const left = counts(found({ ...want, [name]: "" }).flatMap((at) => of(data.cases[at])));
      for (const each of [...form.elements[name].options].slice(1)) {
        each.text = `${each.value} (${digits(left.get(each.value) ?? 0)})`;
      }
    }
  }

  function counts(names) {
    const found = new Map([["all", names.length]]);
    for (const name of names) found.set(name, (found.get(name) ?? 0) + 1);
    return found;
  }

  function digits(count) {
    return count.toLocaleString("en");
  }

  // What the search found is highlighted in the cases that are open or in their summaries

  function highlight() {
    const words = form.elements.q.value.trim().toLowerCase();
    if (!CSS.highlights) return;
    CSS.highlights.delete("found");
    if (words) CSS.highlights.set("found", new Highlight(...ranges(words)));
  }

  function* ranges(words) {
    const texts = document.createTreeWalker(list, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode.data.toLowerCase();
      if (text.length !== texts.currentNode.data.length) continue;
      for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + words.length)) {
        const range = document.createRange();
        range.setStart(texts.currentNode, at);
        range.setEnd(texts.currentNode, at + words.length);
        yield range;
      }
    }
  }

  function turnTo(number) {
    page = number;
    list.replaceChildren(...shown.slice(page * PAGE, (page + 1) * PAGE).map(build));
    const few = shown.length === data.cases.length ? "" : ` of ${digits(data.cases.length)}`;
    byId("found").textContent = `${digits(shown.length)}${few} cases`;
    showPages(Math.ceil(shown.length / PAGE));
    highlight();
  }

  function showPages(count) {
    const nav = byId("pages");
    nav.hidden = count < 2;
    const first = page * PAGE + 1;
    const last = Math.min(shown.length, (page + 1) * PAGE);
    const place = document.createElement("span");
    place.textContent = `${digits(first)} to ${digits(last)} of ${digits(shown.length)}`;
    nav.replaceChildren(button("Previous", page - 1, count), place, button("Next", page + 1, count));
  }

  function button(label, target, count) {
    const made = document.createElement("button");
    made.textContent = label;
    made.disabled = target < 0 || target >= count;
    made.addEventListener("click", () => {
      turnTo(target);
      list.scrollIntoView();
    });
    return made;
  }

  // Choices of the filters

  function fillChoices() {
    for (const [name, of] of Object.entries(VALUES)) choose(name, named(data.cases.flatMap(of)));
    choose("criterion", data.criteria.slice(0, NAMED_CRITERIA).map(criterionChoice));
  }

  function named(names) {
    return [...new Set(names)].sort((a, b) => a.localeCompare(b, undefined, { numeric: true }))
      .map((name) => [name, name]);
  }

  function criterionChoice([anchor, id, text]) {
    return [anchor, text ? `${id}: ${text.slice(0, 60)}` : id];
  }

  function choose(name, choices) {
    const select = form.elements[name];
    select.hidden = choices.length < (name === "file" ? 2 : 1);
    for (const [value, label] of choices) select.add(new Option(label, value));
  }

  // Addresses: a case, a criterion, or filters

  function follow() {
    const name = location.hash.slice(1);
    if (/^case-[0-9a-f]{12}(-[0-9a-f]{12})?$/.test(name)) showCase(name);
    else if (/^criterion-[0-9a-f]{12}$/.test(name)) showGroup(name);
    else if (name.includes("=")) setFilters(new URLSearchParams(name));
  }

  function showCase(name) {
    const at = data.cases.findIndex((each) => name.startsWith(each.anchor));
    if (at < 0) return;
    if (!shown.includes(at)) reset();
    turnTo(Math.floor(shown.indexOf(at) / PAGE));
    const details = build(at);
    open(details);
    current = details;
    aim(byId(name));
  }

  function showGroup(name) {
    const criteria = byId("criteria");
    inflate(criteria);
    criteria.open = true;
    const row = byId(name);
    if (row) aim(row);
  }

  function aim(target) {
    for (const each of document.querySelectorAll(".aimed")) each.classList.remove("aimed");
    const isRow = target.matches("tr");
    if (isRow) target.classList.add("aimed");
    (isRow ? target : current).scrollIntoView({ block: isRow ? "center" : "start" });
  }

  function reset() {
    form.reset();
    apply();
  }

  function setFilters(given) {
    form.reset();
    for (const [name, value] of given) setFilter(name, value);
    apply();
    byId("list").scrollIntoView();
  }

  function setFilter(name, value) {
    const field = form.elements[name];
    if (name === "missed") field.checked = true;
    else if (name === "q") field.value = value;
    else if (name === "show" && STATUSES.includes(value)) field.value = value;
    else if (name === "sort" && Object.hasOwn(SORTS, value)) field.value = value;
    else if (CHOICES.includes(name)) setChoice(field, value);
  }

  function setChoice(select, value) {
    if (![...select.options].some((each) => each.value === value)) {
      const known = data.criteria.find(([anchor]) => anchor === value);
      select.add(new Option(known ? criterionChoice(known)[1] : value, value));
    }
    select.value = value;
  }

  function remember() {
    const given = [...new FormData(form)].filter(([name, value]) =>
      value && value !== "all" && !(name === "sort" && value === "urgent"));
    history.replaceState(null, "", `#${new URLSearchParams(given)}`);
  }

  // Keyboard

  function step(by) {
    const cases = [...list.children];
    const at = cases.indexOf(document.activeElement.closest(".case") ?? current);
    const next = at < 0 ? (by > 0 ? 0 : cases.length - 1) : at + by;
    if (next >= 0 && next < cases.length) focusOn(cases[next]);
    else if (at >= 0) stepOver(by);
  }

  function stepOver(by) {
    const target = page + by;
    if (target < 0 || target * PAGE >= shown.length) return;
    turnTo(target);
    focusOn(by > 0 ? list.firstElementChild : list.lastElementChild);
  }

  function focusOn(details) {
    current = details;
    details.firstElementChild.focus({ preventScroll: true });
    details.scrollIntoView({ block: "nearest" });
  }

  const KEYS = {
    "/": () => form.elements.q.focus(),
    j: () => step(1),
    k: () => step(-1),
    Escape: () => {
      reset();
      remember();
    },
  };

  function press(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.matches("input[type=search], select");
    if (typing && event.key === "Escape") event.target.blur();
    if (typing || !(event.key in KEYS)) return;
    event.preventDefault();
    KEYS[event.key]();
  }

  // Printing: every case that the filters leave, the open ones in full

  function beforePrint() {
    list.replaceChildren(...shown.map(build));
    for (const each of document.querySelectorAll(".groups[open]")) inflate(each);
  }

  function start() {
    for (const each of document.querySelectorAll(".scripted")) each.hidden = false;
    byId("cases").append(list);
    for (const each of document.querySelectorAll(".groups")) {
      each.addEventListener("toggle", () => inflate(each), { once: true });
    }
    if (!form) return;
    fillChoices();
    let waiting = 0;
    const changed = () => {
      apply();
      remember();
    };
    form.addEventListener("change", changed);
    form.elements.q.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(changed, 150);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    document.addEventListener("keydown", press);
    list.addEventListener("toggle", () => setTimeout(highlight), true); // once its body is there
    addEventListener("hashchange", follow);
    addEventListener("beforeprint", beforePrint);
    addEventListener("afterprint", () => turnTo(page));
    apply();
    follow();
  }

  start();
})();
