// Training behind a page: a server of jobs, and the worker that it runs in.

const SLICE = 8,
  BETWEEN_FRAMES = 100; // milliseconds
const TOO_LONG = "one step takes too long for a page. Take fewer tokens or heads, or switch the curvature off.";

// Runs jobs in slices and posts what has been recorded, and at once what is first known of the last model; a newer job
// ends an older one, and one that waits behind it is never begun. `run(spec, values)` begins one. Messages to `take`:
// {spec}, {job, values, slice}, {} to stop.
class Server {
  constructor(run, post) {
    Object.assign(this, { run, post, spec: null, current: null, timer: null, sent: false });
    // A later turn: by a channel, without the four milliseconds that a timer waits, or by the timer where it is first. In
    // Safari a worker's own channel waits for the page, which may be drawing.
    this.channel = new MessageChannel();
    this.channel.port1.onmessage = () => {
      this.sent = false;
      if (this.timer !== null) this.turn();
    };
  }

  take(message) {
    this.spec = message.spec ?? this.spec;
    this.current = message.values ? { ...message, posted: 0, told: false } : null;
    if (message.slice) this.turn();
    else this.later();
  }

  later() {
    this.timer ??= setTimeout(() => this.turn());
    if (!this.sent) this.channel.port2.postMessage(null);
    this.sent = true;
  }

  turn() {
    clearTimeout(this.timer);
    this.timer = null;
    const { current } = this;
    if (!current) return;
    try {
      current.training ??= this.run(this.spec, current.values);
      current.training.advance(current.slice ?? SLICE);
    } catch (error) {
      this.current = null;
      this.post({ job: current.job, error: error.message });
      return;
    }
    this.tell(current);
  }

  tell(current) {
    const { result } = current.training,
      isMeasured = Object.keys(result.final).length > 0,
      due = Date.now() - current.posted > BETWEEN_FRAMES || (isMeasured && !current.told);
    if (due) Object.assign(current, { posted: Date.now(), told: isMeasured });
    if (result.done) this.current = null;
    else this.later();
    if (due || result.done) this.post({ job: current.job, ...result });
  }
}

// What the worker does. Where a step takes long, its computation calls `alive`.
export function work(run) {
  const server = new Server(run, (result) => postMessage(result));
  let told = 0;
  globalThis.alive = () => {
    if (Date.now() - told <= 1000) return;
    told = Date.now();
    postMessage("alive");
  };
  globalThis.onmessage = ({ data }) => server.take(data);
  postMessage("ready");
}

// `run(values)` trains, and `show` hears of the last run alone; `tell(spec)` is for another description. A worker takes a
// while to start, and a page may forbid it: until it says that it is ready, training takes slices of the page's own time;
// with `patience`, in milliseconds, it waits so long before it does. A worker that dies is replaced, with `patience` also
// one that has been silent for so long in a run, and the run begins anew, three times at most.
export class Trainer {
  constructor(run, spec, show, patience = null) {
    Object.assign(this, { spec, show, patience, job: 0, latest: null, worker: null, address: null, ready: false });
    Object.assign(this, { deaths: 0, silence: null, closed: false });
    this.here = new Server(run, (result) => this.hear(result));
    this.here.take({ spec });
    this.start();
  }

  hear(result) {
    clearTimeout(this.silence);
    if (result.job !== this.job) return;
    if (result.done || result.error) {
      this.latest = null;
      this.deaths = 0;
    } else if (this.ready) this.listen();
    this.show(result);
  }

  listen() {
    clearTimeout(this.silence);
    if (this.patience) this.silence = setTimeout(() => this.died(true), this.patience);
  }

  // Of a worker that was never ready there is no other: the page trains. What has silenced one worker after the other
  // would silence the page too.
  died(silent) {
    const lived = this.ready,
      last = lived && ++this.deaths === 4,
      hung = last && silent && this.latest;
    this.end();
    if ((lived && !last) || hung) this.start();
    if (hung) this.hear({ job: this.latest.job, error: TOO_LONG });
    else if (this.latest && (lived || this.patience)) this.send(this.latest);
  }

  end() {
    this.ready = false;
    this.worker?.terminate();
    this.worker = null;
    URL.revokeObjectURL(this.address);
  }

  send(message) {
    if (this.ready) this.worker.postMessage(message);
    else if (!this.worker || !this.patience) {
      this.here.take(message);
      return;
    }
    this.listen();
  }

  // The worker has the text of the whole module, which is the function `linked`.
  start() {
    try {
      this.address = URL.createObjectURL(
        new Blob([`${linked}\nlinked().default.work();`], { type: "text/javascript" }),
      );
      this.worker = new Worker(this.address);
      this.worker.onmessage = ({ data }) => this.take(data);
      this.worker.onerror = (event) => {
        // it cannot start, or it died; errors of the engine come as results
        event.preventDefault();
        this.died(false);
      };
    } catch {
      this.worker = null;
    }
  }

  take(data) {
    if (data === "alive") {
      if (this.latest) this.listen();
    } else if (data === "ready") {
      this.ready = true;
      URL.revokeObjectURL(this.address); // only now: not every browser has read it before
      this.worker.postMessage({ spec: this.spec });
      if (this.patience && this.latest) this.send(this.latest);
    } else this.hear(data);
  }

  run(values) {
    if (this.closed) return;
    this.latest = { job: ++this.job, values };
    if (this.job === 1) this.latest.slice = 100; // while a page loads, a second turn may have to wait for a second
    this.here.take({});
    this.send(this.latest);
  }

  tell(next) {
    this.spec = next;
    this.here.take({ spec: next });
    if (this.ready) this.worker.postMessage({ spec: next });
  }

  close() {
    this.closed = true;
    clearTimeout(this.silence);
    this.here.take({});
    this.end();
  }

  get place() {
    return this.ready || (this.worker && this.patience) ? "worker" : "page";
  }
}
