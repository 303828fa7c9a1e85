
"use strict";
(() => {
  // The trees, see _data in writing.py.  Marks, relations and edits are numbers; `tables` has their names.
  const data = JSON.parse(document.getElementById("data").textContent);
  const { about, tables, trees } = data;
  const form = document.querySelector("form");
  const hits = document.getElementById("hits");
  const more = document.getElementById("more");
  const PAGE = 50; // trees shown at first
  const DEEPEST = 30; // box inside boxes
  const SCALE = 0.8; // of drawings, so that their words are as large as the text

  // Values of the options.  The empty one is any; no mark has a tab, so it can stand for none.
  const ANY = "", NONE = "\t";
  const EDIT_NAMES = { keep: "kept" };
  const CONDITIONS = ["relation", "underlying", "edit", "surface"];
  const PARAMETERS = [...CONDITIONS, "words", "sentence"];

  const EMPTY_QUERY = Object.fromEntries(PARAMETERS.map((name) => [name, ""]));

  const number = (count) => count.toLocaleString("en");
  const counted = (count, noun) => `${number(count)} ${noun}${count === 1 ? "" : "s"}`;

  function element(name, properties = {}, ...children) {
    const made = Object.assign(document.createElement(name), properties);
    made.append(...children);
    return made;
  }

  // What is searched ---------------------------------------------------------------------------------------------

  // A finding is one thing in a tree that all conditions must hold of: an underlying mark, a mark on the page
  // that was no underlying one, or a constituent that sprouted nothing.  `values` has its values for each of
  // CONDITIONS.
  const folded = (text) => text.normalize("NFC").toLowerCase();

  for (const tree of trees) {
    tree.surfaceWords ??= tree.words;
    tree.underlyingWords ??= tree.words;
    const written = tree.surfaceWords.filter((form) => form !== "");
    tree.text = folded(`${tree.words.join(" ")}\n${written.join(" ")}`);
    const surfaces = new Map(tree.slots.map(([slot, , surface]) => [slot, surface]));
    const relation = (word) => (word ? [tables.relations[tree.relations[word - 1]]] : []);
    const sprouting = new Set(tree.constituents.map(([word]) => word));
    tree.findings = tree.fates.map(([word, mark, slot, edit]) => {
      const surface = surfaces.get(slot);
      return {
        word,
        slot,
        values: {
          relation: relation(word),
          underlying: [mark < 0 ? NONE : tables.marks[mark]],
          edit: [tables.edits[edit]],
          surface: surface.length ? surface.map((one) => tables.marks[one]) : [NONE],
        },
      };
    });
    tree.words.forEach((_, place) => {
      if (!sprouting.has(place + 1)) {
        const values = { relation: relation(place + 1), underlying: [NONE], edit: [], surface: [] };
        tree.findings.push({ word: place + 1, slot: -1, values });
      }
    });
  }

  function query() {
    return Object.fromEntries(PARAMETERS.map((name) => [name, form.elements[name].value]));
  }

  const fits = (finding, name, value) => value === ANY || finding.values[name].includes(value);

  const inText = (tree, wanted) =>
    (wanted.sentence === "" || tree.id === wanted.sentence) && tree.text.includes(folded(wanted.words.trim()));

  // The trees that fit, each with the findings that do, and how many there would be with each other option.
  function search(wanted) {
    const found = [];
    const counts = Object.fromEntries(CONDITIONS.map((name) => [name, new Map()]));
    const restricted = CONDITIONS.some((name) => wanted[name] !== ANY);
    for (const tree of trees) {
      if (!inText(tree, wanted)) continue;
      const fitting = [];
      const seen = Object.fromEntries(CONDITIONS.map((name) => [name, new Set()]));
      for (const finding of tree.findings) {
        const failing = CONDITIONS.filter((name) => !fits(finding, name, wanted[name]));
        if (failing.length === 0) fitting.push(finding);
        if (failing.length > 1) continue;
        for (const name of failing.length ? failing : CONDITIONS) {
          for (const value of finding.values[name]) seen[name].add(value);
        }
      }
      for (const name of CONDITIONS) {
        for (const value of seen[name]) counts[name].set(value, (counts[name].get(value) ?? 0) + 1);
      }
      if (fitting.length || !restricted) found.push({ tree, fitting: restricted ? fitting : [] });
    }
    return { found, counts };
  }

  // The form -----------------------------------------------------------------------------------------------------

  const optionName = (name, value) => {
    if (value === NONE) return name === "surface" ? "∅ (no mark)" : "∅ (sprouted nothing)";
    return name === "edit" ? (EDIT_NAMES[value] ?? value) : value;
  };

  function fillSelects() {
    const { counts } = search(EMPTY_QUERY);
    for (const name of CONDITIONS) {
      const frequent = [...counts[name]].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
      const any = element("option", { value: ANY, textContent: "any" });
      form.elements[name].append(any, ...frequent.map(([value]) => option(name, value)));
    }
  }

  function option(name, value) {
    const made = element("option", { value });
    made.dataset.name = optionName(name, value);
    return made;
  }

  function showCounts(counts) {
    for (const name of CONDITIONS) {
      for (const one of form.elements[name].options) {
        if (one.value !== ANY) one.textContent = `${one.dataset.name} (${number(counts[name].get(one.value) ?? 0)})`;
      }
    }
  }

  // The address keeps what is searched for.
  function address(wanted, drawings) {
    const parameters = new URLSearchParams();
    for (const name of PARAMETERS) if (wanted[name] !== "") parameters.set(name, wanted[name]);
    if (drawings) parameters.set("drawings", "1");
    return `#${parameters}`;
  }

  function readAddress() {
    const parameters = new URLSearchParams(location.hash.slice(1));
    for (const name of PARAMETERS) {
      const value = parameters.get(name) ?? "";
      const field = form.elements[name];
      // What no tree has can be asked for in an address, and is not found.
      if (CONDITIONS.includes(name) && ![...field.options].some((one) => one.value === value)) {
        field.append(option(name, value));
      }
      field.value = value;
    }
    form.elements.drawings.checked = parameters.has("drawings");
  }

  // A tree -------------------------------------------------------------------------------------------------------

  const unseen = (text) => element("span", { className: "unseen", textContent: text });
  const markText = (marks) => marks.map((mark) => tables.marks[mark]).join(" ");
  const direction = (tree) => (tree.rightToLeft ? "rtl" : "ltr");
  const highlighted = (node, wanted) => (wanted ? element("mark", {}, node) : node);

  function spaced(nodes) {
    return nodes.flatMap((node, place) => (place ? [" ", node] : [node]));
  }

  function surfaceLine(tree, foundSlots) {
    const slots = new Map(tree.slots.map((slot) => [slot[0], slot]));
    const nodes = [];
    for (let place = 0; place <= tree.words.length; place++) {
      if (place && tree.surfaceWords[place - 1]) nodes.push(tree.surfaceWords[place - 1]);
      if (slots.has(place)) nodes.push(highlighted(slotNode(slots.get(place), tree), foundSlots.has(place)));
    }
    return line("surface", tree, spaced(nodes));
  }

  function slotNode([, underlying, surface, changed, edits], tree) {
    if (!changed) return element("span", { className: "mark", textContent: markText(surface) });
    const names = edits.map((edit) => tables.edits[edit]).join(", ") || "changed";
    const arrow = tree.rightToLeft ? " ⇐ " : " ⇒ ";
    return element(
      "span", { className: "edited" },
      unseen("edit: "), element("del", { textContent: markText(underlying) || "∅" }), arrow,
      element("ins", { textContent: markText(surface) || "∅" }), " ", element("small", { textContent: names }),
    );
  }

  // Brackets are there for screen readers and for copying, and inside boxes that are deeper than anybody can see.
  function underlyingLine(tree, foundWords) {
    const root = element("span");
    const open = [{ node: root, last: Infinity, right: [], height: 0 }];
    const sprouting = new Set(tree.constituents.map(([head]) => head));
    const add = (node) => {
      const { node: box } = open.at(-1);
      if (box.hasChildNodes() && !box.lastChild.classList?.contains("relation")) box.append(" ");
      box.append(node);
    };
    const mark = (one) => element("span", { className: "mark", textContent: tables.marks[one] });
    tree.underlyingWords.forEach((form, place) => {
      const word = place + 1;
      // Outer constituents come first, so those that start here are opened in their order.
      for (const [head, first, last, left, right] of tree.constituents) {
        if (first !== word) continue;
        const boxed = open.length <= DEEPEST;
        let { node } = open.at(-1);
        if (boxed) {
          node = element("span", { className: foundWords.has(head) ? "constituent found" : "constituent" });
          add(node);
        }
        open.push({ node, last, right, boxed, height: 1 });
        const relation = tables.relations[tree.relations[head - 1]];
        add(element("span", { className: "relation" }, relation, boxed ? unseen("[") : "["));
        left.forEach((one) => add(mark(one)));
      }
      const found = foundWords.has(word) && !sprouting.has(word);
      if (form) add(highlighted(element("span", { textContent: form }), found));
      while (open.at(-1).last === word) {
        open.at(-1).right.forEach((one) => add(mark(one)));
        const { node, boxed, height } = open.pop();
        node.append(boxed ? unseen("]") : "]");
        node.style.setProperty("--height", Math.min(height, 6));
        open.at(-1).height = Math.max(open.at(-1).height, height + 1);
      }
    });
    return line("underlying", tree, [root]);
  }

  function line(className, tree, nodes) {
    return element("p", { className, dir: direction(tree), lang: "" }, ...nodes);
  }

  function drawing(tree) {
    const [width, height, elements] = tree.drawing;
    const make = (name, attributes) => {
      const made = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
      return made;
    };
    const svg = make("svg", {
      width: width * SCALE, height: height * SCALE, viewBox: `0 0 ${width} ${height}`,
      direction: direction(tree), role: "img", "aria-label": `Drawing of the tree of ${tree.id}`, ...data.frame,
    });
    for (const [kind, ...rest] of elements) {
      const attributes = { class: tables.kinds[kind], ...data.styles[tables.kinds[kind]] };
      if (typeof rest[0] === "string") {
        const [text, x, y] = rest;
        svg.append(make("text", { x, y, ...attributes }));
        svg.lastChild.textContent = text;
      } else {
        svg.append(make("path", { d: `M${rest.join(" ")}`, ...attributes }));
      }
    }
    return svg;
  }

  function details(tree, open) {
    const frame = element("div", { tabIndex: 0, role: "group", dir: direction(tree) });
    frame.setAttribute("aria-label", `Drawing of ${tree.id}; scrolls sideways`);
    const made = element("details", {}, element("summary", { textContent: "Drawing" }), frame);
    const draw = () => { if (made.open && !frame.hasChildNodes()) frame.append(drawing(tree)); };
    made.addEventListener("toggle", draw);
    made.open = open;
    draw();
    return made;
  }

  const lifted = new Set(about.lifted);

  function row({ tree, fitting }, open) {
    const link = element("a", { href: address({ ...EMPTY_QUERY, sentence: tree.id }), textContent: tree.id });
    const name = element("div", { className: "name" }, link);
    if (lifted.has(tree.id)) name.append(element("span", { className: "lifted", textContent: " (made projective)" }));
    return element(
      "li", { className: "tree" }, name,
      surfaceLine(tree, new Set(fitting.map((finding) => finding.slot))),
      underlyingLine(tree, new Set(fitting.map((finding) => finding.word))),
      details(tree, open),
    );
  }

  // Showing what was found ---------------------------------------------------------------------------------------

  let found = [];
  let shown = 0;

  function showMore(count) {
    const open = form.elements.drawings.checked || form.elements.sentence.value !== "";
    const next = found.slice(shown, shown + count);
    hits.append(...next.map((hit) => row(hit, open)));
    shown += next.length;
    const left = found.length - shown;
    more.hidden = left === 0;
    more.firstElementChild.textContent = `Show ${Math.min(left, PAGE)} more`;
    more.lastElementChild.textContent = `Show all ${number(left)} that are left`;
  }

  function refresh() {
    const wanted = query();
    const result = search(wanted);
    found = result.found;
    shown = 0;
    showCounts(result.counts);
    document.getElementById("count").textContent = `${number(found.length)} of ${counted(trees.length, "tree")}`;
    hits.replaceChildren();
    showMore(PAGE);
    keepAddress();
  }

  // Browsers refuse to change the address at every key.
  let waiting;
  function keepAddress() {
    clearTimeout(waiting);
    waiting = setTimeout(() => history.replaceState(null, "", address(query(), form.elements.drawings.checked)), 200);
  }

  more.addEventListener("click", ({ target }) => {
    if (target.tagName !== "BUTTON") return;
    const first = shown;
    showMore(target.value === "all" ? found.length : PAGE);
    hits.children[first].querySelector("a").focus({ preventScroll: true });
  });
  form.addEventListener("input", refresh);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(refresh));
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address is the search's
    hits.focus();
  });
  addEventListener("hashchange", () => {
    readAddress();
    refresh();
    scrollTo(0, 0);
  });

  function settings(recipe) {
    const items = Object.entries(recipe).flatMap(([name, value]) => {
      const shown = Array.isArray(value) ? value.join(", ") : value;
      return [element("dt", { textContent: name }), element("dd", { textContent: shown })];
    });
    return element("dl", {}, ...items);
  }

  function showAbout() {
    const { recipe } = about;
    document.querySelector("h1").textContent = about.file;
    document.getElementById("summary").textContent = [
      counted(about.sentences, "sentence"),
      `${about.omitted.length ? number(about.omitted.length) : "none"} omitted`,
      `model ${about.model}: attach ${recipe.attach}, channel ${recipe.channel}, read from the ${recipe.direction}`,
    ].join(" · ");
    const place = document.querySelector(".about");
    place.append(
      element("p", { textContent: `Model ${about.model}, shown by pyropunct ${about.version}. Its recipe:` }),
      settings(recipe),
    );
    if (about.omitted.length) {
      const lines = about.omitted.map(([id, at, reason]) => `${id} (line ${at}): ${reason}`);
      const items = lines.map((textContent) => element("li", { textContent }));
      place.append(element("p", { textContent: "Omitted sentences:" }), element("ul", { id: "omitted" }, ...items));
    }
    if (about.lifted.length) {
      const text = `Sentences whose trees were made projective: ${about.lifted.join(", ")}`;
      place.append(element("p", { textContent: text }));
    }
  }

  showAbout();
  fillSelects();
  readAddress();
  refresh();
})();
