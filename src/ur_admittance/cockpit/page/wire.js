// The connection to the server: messages in, requests out, and again when it breaks.

export class Wire {
  constructor(handlers, state) {
    this.handlers = handlers;
    this.state = state; // called with "connected", "connecting"
    this.token = this.#token();
    this.open();
  }

  // What comes after the # in the address: kept for reloads of this tab, and out of the address bar's history.
  #token() {
    const given = new URLSearchParams(location.hash.slice(1)).get("token");
    if (given) {
      sessionStorage.setItem("token", given);
      history.replaceState(null, "", location.pathname);
    }
    return given || sessionStorage.getItem("token") || "";
  }

  open() {
    this.state("connecting");
    this.socket = new WebSocket(`ws://${location.host}/ws`);
    this.socket.onopen = () => {
      this.state("connected");
      if (this.token) this.send({ do: "token", token: this.token });
    };
    this.socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      const handler = this.handlers[message.kind];
      if (handler) handler(message);
    };
    this.socket.onclose = () => {
      this.state("connecting");
      setTimeout(() => this.open(), 1000);
    };
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }
}
