"use strict";

const REFRESH_MS = 3000;
const FIGURES = ["numRecordsIn", "numRecordsInPerSecond", "pendingRecords", "stateEntries",
  "currentInputWatermark", "currentOutputWatermark", "busyTimeMsPerSecond",
  "backPressuredTimeMsPerSecond"];
const LOG_LINES = 200;
const FOCUSABLE = "a, button, input, summary, [tabindex]";
const MAX_WATERMARK = 2 ** 63 - 1;
const number = new Intl.NumberFormat("en", {maximumFractionDigits: 0});
const main = document.getElementById("main");
const connection = document.getElementById("connection");
const dialog = document.getElementById("dialog");
const open = new Set();
const known = new Set();
const view = {scale: "fit"};
let shown = 0;

// -- requests -----------------------------------------------------------------------------------

const ask = (path, method = "GET", body, read) => send(path, method, body && JSON.stringify(body),
  read, {"Content-Type": "application/json"});

async function send(path, method, body, read = (answer) => answer.json(), headers = {}) {
  const token = sessionStorage.getItem("token");
  if (token) headers.Authorization = `Bearer ${token}`;
  const answer = await fetch(path, {method, headers, body});
  if (answer.status === 403) {
    const given = await question("Which token?", `${token ? "The token that this page has sent is " +
      "not the server's. " : ""}The server keeps the one that it has made in ` +
      "~/.pyflink-on-spark/serve/HOST/token of the user who runs it.", "Token", "");
    if (given) {
      sessionStorage.setItem("token", given);
      return send(path, method, body, read, headers);
    }
  }
  if (!answer.ok) throw new Error((await answer.json()).errors.join(" "));
  return read(answer);
}

async function operation(path, body) {
  const {"request-id": request} = await ask(path, "POST", body);
  const base = path.replace(/\/(stop|savepoints)$/, "/savepoints/");
  for (;;) {
    const {operation: result} = await ask(base + request);
    if (result && result.location) return result.location;
    if (result) throw new Error(result["failure-cause"]["stack-trace"]);
    await new Promise((done) => setTimeout(done, 300));
  }
}

// -- elements -----------------------------------------------------------------------------------

// Characters that turn the direction of the text around would let a name show as another one.
const plain = (text) => typeof text !== "string" ? text : text.replaceAll(
  /[\u202a-\u202e\u2066-\u2069]/g, (found) => `\\u${found.charCodeAt(0).toString(16)}`);

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "onclick") made.addEventListener("click", value);
    else made.setAttribute(key, plain(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined).map(plain));
  return made;
}

function drawn(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, plain(value));
  made.textContent = plain(text);
  return made;
}

function table(caption, columns, rows) {
  const head = columns.map(([title, kind]) => element("th", {scope: "col", class: kind}, title));
  const body = rows.map((row) => element("tr", {}, ...row.map((cell, index) =>
    element("td", {class: columns[index][1]}, cell))));
  return element("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": caption},
    element("table", {}, element("thead", {}, element("tr", {}, ...head)),
      element("tbody", {}, ...body)));
}

function facts(pairs) {
  return element("dl", {class: "facts"}, ...pairs.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

function state(name) {
  return element("strong", {class: name}, name);
}

function section(title, id, ...children) {
  const made = element("details", {id}, element("summary", {}, element("strong", {}, ...[title].flat())),
    ...children);
  made.open = open.has(id);
  made.addEventListener("toggle", () => {
    if (made.open === open.has(id)) return;
    if (made.open) open.add(id);
    else open.delete(id);
    if (made.open && (["log", "functions", "scripts"].includes(id) || id.startsWith("subtasks-"))) refresh();
  });
  return made;
}

// -- texts --------------------------------------------------------------------------------------

const zone = () => sessionStorage.getItem("zone") || "UTC";

function time(ms) {
  if (!(ms > 0)) return "";
  const date = new Date(ms), utc = date.toISOString().slice(0, 19).replace("T", " ");
  const shifted = new Date(ms - 60000 * date.getTimezoneOffset()).toISOString();
  const local = shifted.slice(0, 19).replace("T", " ");
  const [text, other] = zone() === "UTC" ? [`${utc} UTC`, `${local} local time`]
    : [local, `${utc} UTC`];
  return element("time", {datetime: date.toISOString(), title: other}, text);
}

// Flink gives some operators names that no program has written.
const named = (name) => name
  .replaceAll(/(?<!\w)_stream_key_by_\w+_operator\b/g, "Key By")
  .replaceAll(/(?<!\w)_(keyed_stream_values|keyed_stream_pairs|partition_custom_map)_operator\b/g,
    (_, words) => words.replaceAll("_", " "));

function span(ms) {
  if (ms < 0) return `-${span(-ms)}`;
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${(ms / 1000).toFixed(1)} s`;
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const found = [];
  let rest = seconds;
  for (const [size, unit] of parts) {
    if (rest >= size) found.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return found.slice(0, 2).join(" ");
}

function bytes(count) {
  const units = ["bytes", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; count >= 1024 && unit < units.length - 1; unit += 1) count /= 1024;
  return `${unit ? count.toFixed(1) : count} ${units[unit]}`;
}

// -- the list -----------------------------------------------------------------------------------

const SHOWN_ENDED = 50;

async function list() {
  const [{jobs}, {features}] = await Promise.all([ask("/jobs/overview"), ask("/config")]);
  jobs.sort((a, b) => b["start-time"] - a["start-time"]);
  const [running, ended] = [jobs.filter((job) => job["end-time"] < 0),
    jobs.filter((job) => job["end-time"] >= 0)];
  document.title = `Jobs: ${running.length} running`;
  const told = jobs.length || features["web-submit"] ? null
    : element("p", {}, "This process has run no job yet.");
  const found = ended.filter((job) => `${job.name} ${job.state} ${job.jid} ${job.cause || ""}`
    .toLowerCase().includes(searched.value.toLowerCase()));
  const parts = found.slice(0, view.all ? undefined : SHOWN_ENDED);
  return [told, features["web-submit"] ? await scripts() : null,
    element("h2", {}, `Running: ${running.length}`),
    running.length ? jobTable("jobs that run", running) : element("p", {}, "none"),
    element("h2", {}, `Ended: ${ended.length}`), ended.length > 10 ? element("p", {class: "search"}, searched) : null,
    parts.length ? jobTable("jobs that have ended", parts) : element("p", {}, "none"),
    parts.length < found.length ? element("p", {}, element("button", {type: "button",
      onclick: () => { view.all = true; refresh(); }}, `Show all ${found.length}`)) : null];
}

function jobTable(caption, jobs) {
  const causes = jobs.some((job) => job.cause);
  return table(caption, [["Name"], ["State"], ["Begun"], ["Duration", "number"],
    ["Subtasks", "number"], ...(causes ? [["Cause"]] : []), ["Id", "id"]], jobs.map((job) => [
    element("a", {href: `#${job.jid}`}, job.name), state(job.state), time(job["start-time"]),
    span(job.duration), job.tasks.total ? number.format(job.tasks.total) : "",
    ...(causes ? [job.cause || ""] : []), element("code", {}, job.jid)]));
}

const searched = element("input", {type: "search", "aria-label":
  "Ended jobs with a name, state, cause or id", placeholder: "name, state, cause"});
searched.addEventListener("input", () => refresh());

async function scripts() {
  const {files} = open.has("scripts") ? await ask("/jars") : {files: []};
  const upload = element("input", {type: "file", id: "script", accept: ".py,.zip",
    "aria-label": "A script, or a zip file with a __main__.py"});
  upload.addEventListener("change", () => submitted("Uploading...", async () => {
    const body = new FormData();
    body.append("jarfile", upload.files[0]);
    await send("/jars/upload", "POST", body);
    return "The script can be run now.";
  }));
  const rows = files.map((file) => [file.name, time(file.uploaded), element("span", {},
    element("button", {type: "button", onclick: () => runScript(file)}, "Run"), " ",
    element("button", {type: "button", class: "danger", onclick: () => submitted("Removing...",
      async () => { await ask(`/jars/${file.id}`, "DELETE"); return "Removed."; })}, "Remove"))]);
  return section("Run a script", "scripts", element("p", {}, upload),
    rows.length ? table("scripts", [["Script"], ["Uploaded"], [""]], rows) : null);
}

async function runScript(file) {
  const given = await question(`Run ${file.name}`, "In a process of its own. Options of run go "
    + "before --, arguments of the script after it: -p 2 -s /savepoints/1 -- --input x",
  "Options and arguments", "");
  if (given === null) return;
  await submitted("Starting...", async () => {
    const {jobid} = await ask(`/jars/${file.id}/run`, "POST", runBody(given));
    location.hash = jobid;
    return "The job has been submitted.";
  });
}

function runBody(text) {
  const words = (text.match(/"[^"]*"|'[^']*'|\S+/g) || []).map((word) =>
    word.replace(/^(["'])(.*)\1$/, "$2"));
  const end = words.indexOf("--");
  const options = end < 0 ? [] : words.slice(0, end), body = {flinkConfiguration: {}};
  body.programArgsList = end < 0 ? words : words.slice(end + 1);
  while (options.length) {
    const word = options.shift();
    if (word === "-p") body.parallelism = Number(options.shift());
    else if (word === "-s") body.savepointPath = options.shift();
    else if (word === "-n") body.allowNonRestoredState = true;
    else if (/^-D.*=/.test(word)) {
      const [, key, value] = word.match(/^-D([^=]*)=(.*)$/);
      body.flinkConfiguration[key] = value;
    } else throw new Error(`${word} is no option here: -p N, -s PATH, -n, -Dkey=value`);
  }
  return body;
}

async function submitted(doing, act) {
  try {
    connection.textContent = doing;
    connection.textContent = plain(await act());
  } catch (error) {
    connection.textContent = plain(error.message);
  }
  refresh();
}

// -- one job ------------------------------------------------------------------------------------

async function job(id) {
  const path = `/jobs/${id}`;
  const [told, checkpoints, failures, config, accumulators, kept] = await Promise.all(["",
    "/checkpoints", "/exceptions", "/config", "/accumulators", "/state"].map((rest) =>
    ask(path + rest)));
  const log = open.has("log")
    ? await ask(`${path}/log`, "GET", undefined, (answer) => answer.text()) : "";
  const figures = await Promise.all(told.vertices.map((vertex) => ask(
    `${path}/vertices/${vertex.id}/subtasks/metrics?get=${FIGURES}`)));
  const rates = await Promise.all(told.vertices.map((vertex) => vertex.parallelism > 1 ? ask(
    `${path}/vertices/${vertex.id}/metrics?get=${
      [...Array(vertex.parallelism).keys()].map((index) => `${index}.numRecordsIn`)}`) : []));
  document.title = plain(`${told.name}: ${told.state}`);
  const over = ["FINISHED", "FAILED", "CANCELED"].includes(told.state);
  const recent = await ask(`${path}/recent`);
  return [heading(told, checkpoints, failures), exceptions(failures), buttons(told, path),
    graph(told, figures), tasks(told, figures, rates), charts(recent, told.now),
    await subtasks(told, path, checkpoints), over ? null : await functions(told, path),
    states(kept), history(checkpoints),
    section("Configuration", "configuration", pairs("configuration",
      config["execution-config"]["user-config"])),
    section("Accumulators", "accumulators", pairs("accumulators", Object.fromEntries(
      accumulators["user-task-accumulators"].map((each) => [each.name, each.value])))),
    section("Log", "log", element("pre", {tabindex: "0", "aria-label": "the last lines of the log"},
      log.trimEnd().split("\n").slice(-LOG_LINES).join("\n") || "nothing was logged yet"))];
}

function heading(told, checkpoints, {exceptionHistory: {entries}}) {
  const last = checkpoints.latest.completed;
  const restored = checkpoints.latest.restored;
  return element("div", {}, element("h2", {}, `${told.name} `, state(told.state)), facts([
    ["Id", element("code", {}, told.jid)], ["Begun", time(told["start-time"])],
    ["In this state since", time(told.timestamps[told.state])],
    ["Restarts", number.format(told.restarts)],
    ...(entries.length ? [["Last failure", element("span", {class: "FAILED"},
      entries[0].exceptionName)]] : []),
    ...(told["waits-for"] ? [["Stands still", element("span", {class: "FAILED"},
      told["waits-for"])]] : []),
    ["Duration", span(told.duration)],
    ["Last checkpoint", last ? `${last.id}, ${bytes(last.state_size)} in ${
      span(last.end_to_end_duration)}, ${span(told.now - last.latest_ack_timestamp)} ago` : "none"],
    ...(restored ? [["Began with", element("code", {}, restored.external_path)]] : [])]));
}

function buttons(told, path) {
  if (["FINISHED", "FAILED", "CANCELED"].includes(told.state)) return null;
  const place = ["Folder (empty: the one that is configured)", ""];
  const button = (title, kind, text, field, act) => element("button", {class: kind, type: "button",
    onclick: async () => {
      const given = await question(`${title}: ${told.name}`, text, ...field);
      if (given === null) return;
      try {
        connection.textContent = `${title}...`;
        connection.textContent = plain(await act(given));
      } catch (error) {
        connection.textContent = plain(error.message);
      }
    }}, title);
  return element("p", {}, button("Savepoint", "", "The job continues.", place, async (folder) =>
    `Savepoint: ${await operation(`${path}/savepoints`, {"target-directory": folder || null})}`),
  " ", button("Stop", "", "The job writes a savepoint and ends.", place, async (folder) =>
    `Stopped with ${await operation(`${path}/stop`, {targetDirectory: folder || null})}`),
  " ", button("Cancel", "danger", "The job ends without a savepoint.", [], async () => {
    await ask(`${path}?mode=cancel`, "PATCH");
    return "The job is cancelled.";
  }));
}

function total(figures, name, kind = "sum") {
  const found = figures.find((each) => each.id === name);
  return found && found[kind] !== undefined ? found[kind] : null;
}

function watermark(figures, now) {
  for (const name of ["currentInputWatermark", "currentOutputWatermark"]) {
    const least = total(figures, name, "min");
    if (least !== null && least >= MAX_WATERMARK) return ["the end", ""];
    if (least !== null && least > -MAX_WATERMARK) {
      return [time(least) || `${least} ms`, span(now - least)];
    }
  }
  return ["none", ""];
}

function tasks(told, figures, rates) {
  const rows = told.vertices.map((vertex, index) => {
    const found = figures[index];
    const [moment, lag] = watermark(found, told.now);
    const text = (name) => {
      const value = total(found, name);
      return value === null ? "" : number.format(value);
    };
    return [named(vertex.name), number.format(vertex.parallelism), text("numRecordsIn"),
      text("numRecordsInPerSecond"), skew(rates[index]), share(found, "busyTimeMsPerSecond"),
      share(found, "backPressuredTimeMsPerSecond"), text("pendingRecords"), text("stateEntries"),
      moment, lag];
  });
  return element("div", {}, element("h2", {}, "Operators"), table("operators", [["Operators"],
    ["Subtasks", "number"], ["Records in", "number"], ["per second", "number"],
    ["Skew"], ["Busy", "number"], ["Held up", "number"], ["Backlog", "number"], ["State entries", "number"], ["Watermark"], ["Lag", "number"]],
    rows));
}

function share(figures, name) {
  const most = total(figures, name, "max");
  return most === null ? "" : `${Math.round(most / 10)} %`;
}

function states({states: entries, sizes, checkpoint}) {
  if (!entries.length && !sizes.length) return null;
  const parts = [element("h2", {}, "State")];
  if (entries.length) {
    parts.push(table("state", [["Operator"], ["State"], ["Entries", "number"]], entries.map(
      (each) => [named(each.operator), element("code", {}, each.state),
        number.format(each.entries)])));
  }
  if (sizes.length) {
    parts.push(element("p", {}, `In checkpoint ${checkpoint}:`), table("state in the checkpoint",
      [["Operator"], ["Size", "number"]], sizes.map((each) => [named(each.operator), bytes(each.bytes)])));
  }
  return element("div", {}, ...parts);
}

function skew(rates) {
  const values = rates.map((each) => Number(each.value));
  const most = Math.max(...values);
  if (values.length < 2 || !most) return "";
  const mean = values.reduce((a, b) => a + b) / values.length;
  const text = `the busiest subtask has ${(most / mean).toFixed(1)} times the mean`;
  const bars = element("div", {class: "skew", role: "img", "aria-label": text, title: text});
  for (const value of values) {
    const bar = element("i");
    bar.style.height = `${100 * value / most}%`;
    bars.append(bar);
  }
  return bars;
}

function wrapped(text, most) {
  const lines = [""];
  for (const word of text.split(/(?<=[ ,>])/)) {
    if (lines.at(-1).length + word.trimEnd().length > most && lines.at(-1)) lines.push("");
    lines[lines.length - 1] += word;
  }
  return lines.flatMap((line) => line.trim().match(new RegExp(`.{1,${most}}`, "g")) || []);
}

function graph(told, figures) {
  const names = new Map(told.plan.nodes.map((node) => [node.id, wrapped(
    named(node.description), 27)]));
  const longest = Math.max(...[...names.values()].map((lines) => lines.length));
  const width = 240, height = 44 + 18 * longest, gap = 90, row = height + 20;
  const nodes = told.plan.nodes;
  const level = new Map();
  const depth = (node) => {
    if (!level.has(node.id)) {
      level.set(node.id, 0);
      level.set(node.id, Math.max(0, ...node.inputs.map((input) =>
        depth(nodes.find((each) => each.id === input.id)) + 1)));
    }
    return level.get(node.id);
  };
  nodes.forEach(depth);
  const used = [];
  const place = new Map(nodes.map((node) => {
    const column = level.get(node.id);
    used[column] = (used[column] || 0) + 1;
    return [node.id, [2 + column * (width + gap), 2 + (used[column] - 1) * row]];
  }));
  const across = used.length * (width + gap) - gap + 4, down = Math.max(...used) * row;
  const scale = view.scale === "fit" ? null : view.scale;
  const size = scale === null ? {class: "graph whole"} :
    {class: "graph", width: across * scale, height: down * scale};
  const picture = drawn("svg", {...size, viewBox: `0 0 ${across} ${down}`, role: "img",
    "aria-label": "The graph of the job; the table below has the same operators."});
  // An attribute of style would be refused by the page's security policy.
  if (scale === null) picture.style.maxWidth = `${across}px`;
  for (const node of nodes) {
    const [x, y] = place.get(node.id);
    for (const input of node.inputs) {
      const [fx, fy] = place.get(input.id);
      const [ax, ay, bx, by] = [fx + width, fy + height / 2, x, y + height / 2];
      picture.append(drawn("path", {d: `M${ax} ${ay} C${ax + gap / 2} ${ay} ${
        bx - gap / 2} ${by} ${bx} ${by}`}), drawn("text", {class: "small", x: bx - gap + 8,
        y: by - 6}, input.ship_strategy));
    }
  }
  nodes.forEach((node, index) => {
    const [x, y] = place.get(node.id);
    const rate = total(figures[index], "numRecordsInPerSecond");
    const box = drawn("g");
    box.append(drawn("title", {}, named(node.description)),
      drawn("rect", {class: "box", x, y, width, height, rx: 6}),
      ...names.get(node.id).map((line, at) =>
        drawn("text", {x: x + 10, y: y + 25 + 18 * at}, line)),
      drawn("text", {class: "small", x: x + 10, y: y + height - 14}, `${node.parallelism} subtask${
        node.parallelism > 1 ? "s" : ""}${rate === null ? "" : `, ${number.format(rate)}/s in`}`));
    picture.append(box);
  });
  const zoom = (title, change) => element("button", {type: "button", class: "zoom", onclick: () => {
    view.scale = change(view.scale === "fit" ? 1 : view.scale);
    refresh();
  }}, title);
  return element("div", {}, element("h2", {}, "Graph"), element("p", {},
    zoom("Whole graph", () => "fit"), " ", zoom("Larger", (old) => Math.min(4, old * 1.25)), " ",
    zoom("Smaller", (old) => Math.max(0.2, old / 1.25))), pannable(element("div", {class: "scroll",
    tabindex: "0", role: "region", "aria-label": "graph"}, picture)));
}

function pannable(frame) {
  frame.addEventListener("pointerdown", (down) => {
    const [x, y, left, top] = [down.clientX, down.clientY, frame.scrollLeft, frame.scrollTop];
    const move = (event) => {
      frame.scrollLeft = left + x - event.clientX;
      frame.scrollTop = top + y - event.clientY;
    };
    addEventListener("pointermove", move);
    addEventListener("pointerup", () => removeEventListener("pointermove", move), {once: true});
  });
  return frame;
}

// -- the last minutes ---------------------------------------------------------------------------

function charts({minutes, samples}, now) {
  if (samples.length < 2) return null;
  const kinds = [["Records in per second", "records_per_second"], ["Backlog", "backlog"],
    ["Watermark lag in s", "lag"], ["Busiest subtask in %", "busy"], ["State entries", "state"],
    ["Last checkpoint in ms", "checkpoint"]];
  const drawnCharts = kinds.map(([title, key]) => chart(title, samples.map((each) =>
    [each.time, each[key]]).filter((each) => each[1] !== null), now, minutes)).filter(Boolean);
  return element("div", {}, element("h2", {}, `The last ${minutes} minutes`),
    element("div", {class: "charts"}, ...drawnCharts));
}

function chart(title, points, now, minutes) {
  if (!points.length) return null;
  const width = 300, height = 80, values = points.map((each) => each[1]);
  const most = Math.max(...values, 1e-9), begin = now - minutes * 60000;
  const at = ([moment, value]) => [Math.max(0, width * (moment - begin) / (now - begin)),
    height - 2 - (height - 6) * value / most].map((each) => each.toFixed(1)).join(",");
  const text = `${title}: now ${number.format(values.at(-1))}, at most ${number.format(most)}`;
  const picture = drawn("svg", {viewBox: `0 0 ${width} ${height}`, role: "img",
    "aria-label": text});
  picture.append(drawn("title", {}, text), drawn("polyline", {class: "line",
    points: points.map(at).join(" ")}));
  return element("figure", {}, element("figcaption", {}, `${title}: ${number.format(
    values.at(-1))}`, element("span", {class: "faint"}, ` (at most ${number.format(most)})`)),
  picture);
}

// -- subtasks and functions ---------------------------------------------------------------------

const OF_SUBTASK = [["Records in", "numRecordsIn"], ["per second", "numRecordsInPerSecond"],
  ["Busy", "busyTimeMsPerSecond"], ["Held up", "backPressuredTimeMsPerSecond"],
  ["Backlog", "pendingRecords"], ["State entries", "stateEntries"]];
const WATERMARKS = ["currentInputWatermark", "currentOutputWatermark"];

async function subtasks(told, path, checkpoints) {
  const last = checkpoints.latest.completed;
  const parts = await Promise.all(told.vertices.map(async (vertex) => {
    const id = `subtasks-${vertex.id}`, title = `${named(vertex.name)}: ${vertex.parallelism}`;
    if (!open.has(id)) return section(title, id);
    const indexes = [...Array(vertex.parallelism).keys()];
    const metrics = [...OF_SUBTASK.map((each) => each[1]), ...WATERMARKS];
    const found = new Map((await ask(`${path}/vertices/${vertex.id}/metrics?get=${
      indexes.flatMap((index) => metrics.map((name) => `${index}.${name}`))}`)).map(
      (each) => [each.id, Number(each.value)]));
    const kept = last === null ? [] : (await ask(`${path}/checkpoints/details/${last.id}/subtasks/${
      vertex.id}`).catch(() => ({subtasks: []}))).subtasks;
    const rows = indexes.map((index) => [String(index), ...OF_SUBTASK.map(([, name]) => {
      const value = found.get(`${index}.${name}`);
      if (value === undefined) return "";
      return name.endsWith("MsPerSecond") ? `${Math.round(value / 10)} %` : number.format(value);
    }), moment(WATERMARKS.map((name) => found.get(`${index}.${name}`))),
    kept[index] ? bytes(kept[index].state_size) : ""]);
    return section(title, id, table(`subtasks of ${named(vertex.name)}`, [["Subtask", "number"],
      ...OF_SUBTASK.map(([name]) => [name, "number"]), ["Watermark"],
      ["In the last checkpoint", "number"]], rows));
  }));
  return element("div", {}, element("h2", {}, "Subtasks"), ...parts);
}

function moment(values) {
  const found = values.find((value) => value !== undefined && value > -MAX_WATERMARK);
  if (found === undefined) return "none";
  return found >= MAX_WATERMARK ? "the end" : time(found) || `${found} ms`;
}

async function functions(told, path) {
  const id = "functions", title = "Python functions: what they do now";
  if (!open.has(id)) return section(title, id);
  let found;
  try {
    found = await ask(`${path}/stacks`);
  } catch (error) {
    return section(title, id, element("p", {}, error.message));
  }
  const rows = found.stacks.map((each) => [named(each.operator || each.task),
    String(each.subtask), element("code", {}, each.element), element("code", {}, each.key),
    each.unchanged ? element("strong", {class: "RESTARTING"}, "the same for a second") : "",
    element("pre", {}, each.frames.join("\n"))]);
  const flames = await Promise.all(told.vertices.map(async (vertex) => {
    const {data} = await ask(`${path}/vertices/${vertex.id}/flamegraph`);
    return data.value ? element("div", {}, element("h3", {}, named(vertex.name)),
      flame(data)) : null;
  }));
  return section(title, id, rows.length ? table("functions", [["Operator"], ["Subtask", "number"],
    ["Element"], ["Key"], ["Stuck?"], ["Stack"]], rows)
    : element("p", {}, "No function was at work."), ...flames);
}

function flame(root) {
  const width = 1000, height = 22, boxes = [];
  let depth = 0;
  const draw = (node, x, level) => {
    depth = Math.max(depth, level + 1);
    let at = x;
    for (const child of node.children) {
      const across = width * child.value / root.value;
      const text = `${named(child.name)}: ${(100 * child.value / root.value).toFixed(0)} %`;
      const box = drawn("g");
      box.append(drawn("title", {}, text), drawn("rect", {class: `flame flame${level % 3}`, x: at,
        y: level * height, width: Math.max(0.5, across - 1), height: height - 2}),
      drawn("text", {class: "small", x: at + 4, y: level * height + 15},
        text.slice(0, Math.floor(across / 7))));
      boxes.push(box);
      draw(child, at, level + 1);
      at += across;
    }
  };
  draw(root, 0, 0);
  const picture = drawn("svg", {viewBox: `0 0 ${width} ${(depth - 1) * height}`, role: "img",
    "aria-label": "The flame graph; the table above has the stacks."});
  picture.append(...boxes);
  return picture;
}

function history(checkpoints) {
  const {counts, history: records} = checkpoints;
  const summary = `${counts.completed} completed, ${counts.failed} failed, ${
    counts.in_progress} in progress, ${counts.restored} restored`;
  return element("div", {}, element("h2", {}, "Checkpoints"), element("p", {}, summary),
    records.length ? table("checkpoints", [["Number", "number"], ["Kind"], ["State"], ["Begun"],
      ["Duration", "number"], ["Size", "number"], ["Where, or why not"]], records.slice(0, 15).map(
      (each) => [String(each.id), each.is_savepoint ? "savepoint" : "checkpoint",
        state(each.status), time(each.trigger_timestamp), span(each.end_to_end_duration),
        bytes(each.state_size), element("code", {}, each.external_path || each.failure_message || "")
      ])) : null);
}

function exceptions({exceptionHistory: {entries}}) {
  if (!entries.length) return null;
  const shownEntries = entries.map((each, index) => {
    const id = `exception-${each.timestamp}`;
    if (index === 0 && !known.has(id)) open.add(id);
    known.add(id);
    return section([time(each.timestamp), `: ${each.exceptionName}`], id,
      element("pre", {tabindex: "0"}, named(each.stacktrace)));
  });
  const older = shownEntries.slice(3);
  return element("div", {}, element("h2", {}, "Exceptions"), ...shownEntries.slice(0, 3),
    older.length ? section(`${older.length} more`, "exceptions", ...older) : null);
}

function pairs(caption, values) {
  const names = Object.keys(values).sort();
  if (!names.length) return element("p", {}, "none");
  return table(caption, [["Name"], ["Value"]], names.map((name) =>
    [element("code", {}, name), element("code", {}, String(values[name]))]));
}

// -- the dialog ---------------------------------------------------------------------------------

function question(title, detail, label, value) {
  if (dialog.open) return Promise.resolve(null);
  document.getElementById("question").textContent = plain(title);
  document.getElementById("detail").textContent = plain(detail);
  document.getElementById("field").hidden = label === undefined;
  document.querySelector("#field label").textContent = label || "";
  const input = document.getElementById("answer");
  input.value = value || "";
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((done) => dialog.addEventListener("close", () =>
    done(dialog.returnValue === "yes" ? input.value : null), {once: true}));
}

// -- the page -----------------------------------------------------------------------------------

async function refresh() {
  const turn = ++shown;
  const id = location.hash.slice(1);
  try {
    const parts = await (/^[0-9a-f]{32}$/.test(id) ? job(id) : list());
    if (turn !== shown || dialog.open) return;
    const focused = [...main.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
    const scrolled = [...main.querySelectorAll(".scroll")].map((each) => each.scrollLeft);
    main.replaceChildren(...parts.filter((part) => part !== null));
    main.querySelectorAll(".scroll").forEach((each, index) => {
      each.scrollLeft = scrolled[index] || 0;
    });
    if (focused >= 0) main.querySelectorAll(FOCUSABLE)[focused]?.focus({preventScroll: true});
    if (connection.dataset.lost) connection.textContent = "";
    delete connection.dataset.lost;
  } catch (error) {
    connection.dataset.lost = "yes";
    connection.textContent = error instanceof TypeError
      ? "The process with the jobs does not answer; it may have ended." : error.message;
  }
}

async function follow() {
  for (;;) {
    if (!document.hidden) await refresh();
    await new Promise((done) => setTimeout(done, REFRESH_MS));
  }
}

// The token of a URL that the command has printed; it is kept, and leaves the address.
const given = location.hash.match(/^#token=(.+)$/);
if (given) {
  sessionStorage.setItem("token", decodeURIComponent(given[1]));
  location.replace("#");
}

const zones = document.getElementById("zone");
zones.addEventListener("click", () => {
  sessionStorage.setItem("zone", zone() === "UTC" ? "local" : "UTC");
  zones.textContent = zone() === "UTC" ? "Show local time" : "Show UTC";
  refresh();
});
zones.textContent = zone() === "UTC" ? "Show local time" : "Show UTC";

addEventListener("hashchange", () => {
  main.replaceChildren();
  main.focus();
  refresh();
});
follow();
