// Training behind a page: a server of jobs, and the worker that it runs in. It stands behind kernel.js and the engine.

// Runs jobs in slices and posts what has been recorded; a newer job ends an older one, and one that waits behind it is
// never begun. Its text runs in the worker too. Messages: {spec}, {job, values, slice}, {} to stop.
function serve(engine, post) {
  const SLICE = 8, BETWEEN_FRAMES = 100; // milliseconds
  // A later turn: by a channel, without the four milliseconds that a timer waits, or by the timer where it is first. In
  // Safari a worker's own channel waits for the page, which may be drawing.
  const channel = new MessageChannel();
  let spec = null, current = null, timer = null, sent = false;
  channel.port1.onmessage = () => {
    sent = false;
    if (timer !== null) turn();
  };

  function later() {
    timer ??= setTimeout(turn);
    if (!sent) channel.port2.postMessage(null);
    sent = true;
  }

  function turn() {
    clearTimeout(timer);
    timer = null;
    if (!current) return;
    const { job, values } = current;
    try {
      current.training ??= engine.run(spec, values);
      current.training.advance(current.slice ?? SLICE);
    } catch (error) {
      current = null;
      return post({ job, error: error.message });
    }
    const { result } = current.training, due = Date.now() - current.posted > BETWEEN_FRAMES;
    if (due) current.posted = Date.now();
    if (result.done) current = null;
    else later();
    if (due || result.done) post({ job, ...result });
  }

  return (message) => {
    spec = message.spec ?? spec;
    current = message.values ? { ...message, posted: 0 } : null;
    if (message.slice) turn();
    else later();
  };
}

const TOO_LONG = "one step takes too long for a page. Take fewer tokens or heads, or switch the curvature off.";

function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

// Gives `run(values)`, `tell(spec)` for another description, and `close()`; `show` hears of the last run alone. A worker
// takes a while to start, and a page may forbid it: until it says that it is ready, training takes slices of the page's
// own time; with `patience`, in milliseconds, it waits so long before it does. A worker that dies is replaced, with
// `patience` also one that has been silent for so long in a run, and the run begins anew, three times at most; where a step takes
// long, its computation calls `alive`.
function trainer(spec, show, patience = null) {
  let job = 0, latest = null, worker = null, address = null, ready = false, deaths = 0, silence = null, closed = false;
  const here = serve(makeEngine(makeKernel(bytesOf(KERNEL))), hear);
  here({ spec });

  function hear(result) {
    clearTimeout(silence);
    if (result.job !== job) return;
    if (result.done || result.error) {
      latest = null;
      deaths = 0;
    } else if (ready) listen();
    show(result);
  }

  function listen() {
    clearTimeout(silence);
    if (patience) silence = setTimeout(() => died(true), patience);
  }

  // Of a worker that was never ready there is no other: the page trains. What has silenced one worker after the other
  // would silence the page too.
  function died(silent) {
    const lived = ready, last = lived && ++deaths === 4, hung = last && silent && latest;
    end();
    if (lived && !last || hung) start();
    if (hung) hear({ job: latest.job, error: TOO_LONG });
    else if (latest && (lived || patience)) send(latest);
  }

  function end() {
    ready = false;
    worker?.terminate();
    worker = null;
    URL.revokeObjectURL(address);
  }

  function send(message) {
    if (ready) worker.postMessage(message);
    else if (!worker || !patience) return here(message);
    listen();
  }

  function start() {
    try {
      const parts = [makeKernel, makeEngine, serve, bytesOf].map(String).join("\n");
      const source = `const KERNEL = "${KERNEL}";\n${parts}
        const server = serve(makeEngine(makeKernel(bytesOf(KERNEL))), (result) => postMessage(result));
        let told = 0;
        globalThis.alive = () => { if (Date.now() - told > 1000) { told = Date.now(); postMessage("alive"); } };
        onmessage = ({ data }) => server(data);
        postMessage("ready");`;
      address = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
      worker = new Worker(address);
      worker.onmessage = ({ data }) => {
        if (data === "alive") return latest && listen();
        if (data !== "ready") return hear(data);
        ready = true;
        URL.revokeObjectURL(address); // only now: not every browser has read it before
        worker.postMessage({ spec });
        if (patience && latest) send(latest);
      };
      worker.onerror = (event) => { // it cannot start, or it died; errors of the engine come as results
        event.preventDefault();
        died(false);
      };
    } catch {
      worker = null;
    }
  }
  start();

  return {
    run(values) {
      if (closed) return;
      latest = { job: ++job, values };
      if (job === 1) latest.slice = 100; // while a page loads, a second turn may have to wait for a second
      here({});
      send(latest);
    },
    tell(next) {
      spec = next;
      here({ spec });
      if (ready) worker.postMessage({ spec });
    },
    close() {
      closed = true;
      clearTimeout(silence);
      here({});
      end();
    },
    get place() { return ready || (worker && patience) ? "worker" : "page"; },
  };
}
