// The page: what comes from the server is shown, what people do is asked for.
import { Plots } from "./plots.js";
import { Teach } from "./teach.js";
import { Tuning } from "./tuning.js";
import { View } from "./view.js";
import { Wire } from "./wire.js";

const $ = (id) => document.getElementById(id);
const page = (window.cockpit = { frame: null, frames: 0, trusted: false, said: [], refusals: [], life: { state: "running" } }); // for tests and the curious

// --- light and dark ---
const theme = (name) => {
  document.documentElement.dataset.theme = name;
  page.view?.theme();
  page.plots?.theme();
};
const prefers = matchMedia("(prefers-color-scheme: dark)");
theme(prefers.matches ? "dark" : "light");
prefers.addEventListener("change", () => theme(prefers.matches ? "dark" : "light"));
$("theme").onclick = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");

function toast(words, bad = false) {
  const kept = bad ? page.refusals : page.said;
  kept.push(words);
  if (kept.length > 100) kept.shift();
  const note = document.createElement("div");
  note.className = bad ? "toast bad" : "toast";
  note.textContent = words;
  $("toasts").append(note);
  while ($("toasts").children.length > 4) $("toasts").firstChild.remove();
  setTimeout(() => note.remove(), bad ? 7000 : 3500);
}

const ask = (message) => wire.send(message);
page.view = new View($("scene"), (point) => {
  if (point) {
    $("hint").hidden = true;
    ask({ do: "drag", point });
  } else ask({ do: "release" });
});
if (page.view.blind) toast("This browser has no WebGL 2: the arm is not drawn, all else works.", true);
page.plots = new Plots($("charts"), ["force", "speed", "timing"], () => pause(true));
page.tuning = new Tuning((changes) => ask({ do: "set", changes }));
page.teach = new Teach((message) => ask(message));

// --- what comes ---
const handlers = {
  hello(hello) {
    page.hello = hello;
    $("robot").textContent = hello.arm ? `${hello.arm.toUpperCase().replace("E", "e")} · ${hello.robot}` : hello.robot;
    document.title = `${hello.robot} · cockpit`;
    $("hint").hidden = !hello.simulated;
    for (const part of document.querySelectorAll(".simulated")) part.hidden = !hello.simulated;
    $("play-elsewhere").hidden = hello.simulated;
    options($("preset"), hello.presets, "preset …");
    options($("play-feel"), hello.presets, "feel as it is now");
    options($("scene-name"), hello.scenes);
    options($("scene-feel"), hello.feels);
    page.lamps = hello.lamps.map((lamp) => {
      const item = document.createElement("li"), light = document.createElement("i"), words = document.createElement("span"), what = document.createElement("small");
      item.className = lamp.reaction;
      item.dataset.lamp = lamp.name;
      words.textContent = lamp.words;
      what.textContent = lamp.recovery === "none needed" ? "" : lamp.recovery;
      item.append(light, words, what);
      return item;
    });
    $("lamps").replaceChildren(...page.lamps);
    page.tuning.hello(hello.form);
    page.view.arm(hello);
  },
  config(told) {
    page.config = told;
    page.tuning.config(told);
    page.view.workspace(told.values["limits.workspace_min"], told.values["limits.workspace_max"]);
    if (told.warning) toast(told.warning, true);
  },
  looks({ bytes }) {
    if (bytes) page.view.dress();
    else page.view.dressed = true;
  },
  frame(frame) {
    frame.at = performance.now() / 1000;
    page.frame = frame;
    page.frames++;
    const dead = { silent: "silent: no tick for a second", ended: "ended: waiting for the next", gone: "gone: the controller died" }[frame.state];
    if (frame.q) page.plots.add(frame);
    if (document.hidden) return; // nobody looks
    $("link").textContent = dead ?? "live";
    if (!frame.q) return;
    const stopped = page.life.state === "stopped";
    $("mode").textContent = stopped ? "stopped" : dead ? frame.state : frame.mode;
    $("mode").className = `pill ${stopped ? "stopped" : dead ? "" : frame.mode}`;
    $("words").textContent = stopped ? "at rest until it is reset" : dead ?? frame.words;
    const size = (v) => Math.hypot(...v.slice(0, 3).map((x) => x ?? 0));
    $("force").textContent = size(frame.f).toFixed(1);
    $("torque").textContent = size(frame.m).toFixed(2);
    $("speed").textContent = (1e3 * size(frame.v)).toFixed(0);
    $("offset").textContent = (1e3 * size(frame.x)).toFixed(0);
    page.view.show(frame);
    if (page.frames % 5 === 0) lamps(frame.lamps);
    $("record").classList.toggle("on", Boolean(frame.recording));
    page.teach.frame(frame.playing);
  },
  life(life) {
    page.life = life;
    $("stopped").hidden = life.state !== "stopped" && !life.reason;
    $("reset").hidden = life.state !== "stopped";
    $("why").textContent = life.reason?.text ?? "";
    $("what-to-do").textContent = life.reason?.advice ? `What to do: ${life.reason.advice}` : "";
    page.view.shapes(life.scene);
  },
  trust({ trusted }) {
    page.trusted = trusted;
    $("trust").hidden = trusted;
    if (!trusted) toast("This page may only look: open the address that was printed at start.", true);
  },
  refused({ why }) {
    toast(why, true);
    if (page.config) page.tuning.config(page.config);
  },
  done({ words }) {
    toast(words);
  },
  recordings(told) {
    page.recordings = told;
    const now = told.recording.name;
    $("record").textContent = !now ? "Record" : told.recording.ready ? `End “${now}”` : "starts …";
    $("marking").hidden = !now;
    $("folder").textContent = `in ${told.folder}`;
    $("recordings").replaceChildren(...told.list.filter((each) => each.name !== now).map(recording));
  },
  paths(told) {
    page.paths = told;
    page.teach.paths(told);
  },
  report({ path }) {
    toast("The report is ready.");
    page.report = path;
    window.open(path, "_blank");
  },
  yaml({ text }) {
    const link = document.createElement("a");
    link.href = `data:text/yaml;charset=utf-8,${encodeURIComponent(text)}`;
    link.download = "tuned.yaml";
    link.click();
  },
};

function options(select, names, head) {
  select.replaceChildren(...(head ? [new Option(head, "")] : []), ...names.map((name) => new Option(name, name)));
}

function lamps(on) {
  let any = false;
  for (const item of page.lamps ?? []) {
    const lit = on.includes(item.dataset.lamp);
    any ||= lit;
    item.classList.toggle("on", lit);
  }
  document.querySelector("[data-tab=lamps]").innerHTML = any ? 'Limits<span class="dot"></span>' : "Limits";
}

function recording(each) {
  const item = document.createElement("li"), name = document.createElement("span"), open = document.createElement("button");
  name.textContent = `${each.name}  ${(each.bytes / 1e6).toFixed(1)} MB`;
  open.textContent = "Report";
  open.className = "report";
  open.onclick = () => {
    toast("The report is being drawn …");
    ask({ do: "report", name: each.name });
  };
  const compare = document.createElement("button");
  compare.textContent = page.compared === each.name ? "with …" : "Compare";
  compare.className = page.compared === each.name ? "compare on" : "compare";
  compare.onclick = () => {
    const first = page.compared;
    page.compared = first ? null : each.name;
    if (first && first !== each.name) {
      toast(`${first} is held against ${each.name} …`);
      ask({ do: "compare", one: first, other: each.name });
    }
    handlers.recordings(page.recordings);
  };
  item.append(name, compare, open);
  return item;
}

const wire = new Wire(handlers, (state) => ($("link").textContent = state));
$("trust").hidden = Boolean(wire.token);

// --- what people do ---
const stop = () => {
  page.view.letGo();
  ask({ do: "stop" });
};
$("stop").onclick = stop;
addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input:not([type=range]):not([type=checkbox])");
  if (event.code === "Space" && !typing) {
    event.preventDefault();
    if (!event.repeat) stop();
  }
}, true);
$("reset").onclick = () => {
  $("confirm-why").textContent = `It was stopped: ${page.life.reason?.text ?? "it ended"}`;
  $("confirm").showModal();
};
for (const button of document.querySelectorAll("#confirm button"))
  button.onclick = () => {
    $("confirm").close();
    if (button.value === "yes") ask({ do: "reset", confirmed: true });
  };
for (const tab of document.querySelectorAll("[data-tab]"))
  tab.onclick = () => {
    for (const other of document.querySelectorAll("[data-tab]")) other.classList.toggle("on", other === tab);
    for (const panel of document.querySelectorAll("[data-panel]")) panel.hidden = panel.dataset.panel !== tab.dataset.tab;
  };
$("undo").onclick = () => ask({ do: "undo" });
$("save").onclick = () => ask({ do: "save" });
$("tare").onclick = () => ask({ do: "tare" });
$("preset").onchange = () => {
  if ($("preset").value) ask({ do: "preset", name: $("preset").value });
  $("preset").value = "";
};
$("push-force").oninput = () => ($("push-size").textContent = `${$("push-force").value} N`);
for (const button of document.querySelectorAll("[data-push], [data-turn]"))
  button.onclick = () => {
    const size = Number($("push-force").value), { push, turn } = button.dataset;
    const way = (push ?? turn).split(" ").map(Number);
    const wrench = push ? [...way.map((v) => v * size), 0, 0, 0] : [0, 0, 0, ...way.map((v) => (v * size) / 10)];
    ask({ do: "push", wrench, seconds: 1 });
  };
$("scene-put").onclick = () => ask({ do: "scene", name: $("scene-name").value, side: $("scene-side").value, feel: $("scene-feel").value });
$("record").onclick = () => {
  if (page.recordings?.recording.name) ask({ do: "record_end" });
  else ask({ do: "record", name: $("record-name").value || `push ${page.recordings?.list.length ?? 0}` });
};
$("mark").onclick = () => {
  ask({ do: "mark", text: $("mark-text").value });
  $("mark-text").value = "";
};
const pause = (on) => {
  page.plots.paused = on;
  $("pause").textContent = on ? "Go on" : "Pause";
};
$("pause").onclick = () => pause(!page.plots.paused);
$("span").onchange = () => (page.plots.span = Number($("span").value));
