// Teach and play: a path is kept while the arm is led, and a simulated arm is led along it again.
const $ = (id) => document.getElementById(id);

export class Teach {
  constructor(ask) {
    this.ask = ask;
    this.told = { list: [], teaching: "" };
    $("teach").onclick = () => {
      if (this.told.teaching) ask({ do: "teach_end" });
      else ask({ do: "teach", name: $("path-name").value || `path ${this.told.list.length}` });
    };
    $("play-end").onclick = () => ask({ do: "play_end" });
    $("play-speed").oninput = () => ($("play-speed-size").textContent = this.speed.toPrecision(2));
  }

  // From a quarter to four times as fast as it was taught, by factors.
  get speed() {
    return 4 ** (Number($("play-speed").value) / 10);
  }

  paths(told) {
    this.told = told;
    $("teach").textContent = told.teaching ? `End “${told.teaching}”` : "Teach";
    $("teach").classList.toggle("on", Boolean(told.teaching));
    $("paths").replaceChildren(...told.list.map((path) => this.#item(path)));
  }

  #item(path) {
    const item = document.createElement("li"), name = document.createElement("span"), play = document.createElement("button");
    name.textContent = `${path.name}  ${path.seconds.toFixed(1)} s, ${path.metres.toFixed(2)} m`;
    play.textContent = "Play";
    play.className = "play simulated";
    play.hidden = $("play-elsewhere").hidden === false;
    play.onclick = () => this.ask({ do: "play", name: path.name, speed: this.speed, back: $("play-back").checked, preset: $("play-feel").value });
    item.append(name, play);
    return item;
  }

  // What a frame says of the path that is played: its name, whether it is on it, how much is done.
  frame(playing) {
    const on = Boolean(playing?.name);
    $("playing").hidden = !on;
    if (!on) return;
    if (playing.begun) $("play-done").value = playing.done;
    else $("play-done").removeAttribute("value"); // on its way to the start
    $("play-end").textContent = `End “${playing.name}”`;
  }
}
