// The first so many of the steps that a run has recorded, and what is measured of the model of the last of them.
function beginning(frame, count) {
  const curves = Object.entries(frame.curves).map(([name, curve]) => [name, curve.slice(0, count)]);
  const steps = frame.steps.slice(0, count);
  return { ...frame, steps, curves: Object.fromEntries(curves), final: frame.finals[count - 1], done: false };
}

// Draws the first run, which may be over too soon for an eye to follow, from its first step to its last in so many
// seconds; at once for a reader who wants no motion, and once somebody has moved something: `end()`.
export class Replay {
  constructor(seconds, draw) {
    const still = window.matchMedia?.("(prefers-reduced-motion: reduce)").matches;
    Object.assign(this, { seconds, draw, isOn: seconds > 0 && !still, frame: null, began: 0, count: 1 });
  }

  // What is known of the run by now; `steps` is how many it will record, where that is known before its end.
  hear(frame, steps = frame.done ? frame.steps.length : 0) {
    const isFirst = !this.frame;
    Object.assign(this, { frame, steps });
    if (!this.isOn || !frame.steps.length) this.draw(frame);
    else if (isFirst) this.begin();
  }

  // The first drawing takes long: time runs from its end on.
  async begin() {
    await this.draw(beginning(this.frame, 1));
    this.began = performance.now();
    this.next();
  }

  next() {
    requestAnimationFrame((now) => {
      if (!this.isOn) return;
      const { frame, count, steps, seconds, began } = this,
        known = frame.steps.length;
      this.count = Math.min(known, Math.max(count, Math.ceil((steps * (now - began)) / (1000 * seconds))));
      if (frame.done && this.count === known) {
        this.end();
        this.draw(frame);
        return;
      }
      if (this.count > count) this.draw(beginning(frame, this.count));
      this.next();
    });
  }

  end() {
    this.isOn = false;
  }
}
