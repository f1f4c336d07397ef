// Pace lets work through at most once in a period: at once when it is time, else when the period ends, the newest alone.
export class Pace {
  private last = -Infinity;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private waiting: (() => void) | null = null;

  constructor(private readonly period: number) {}

  /** `urgent`: now, whatever the period. */
  run(work: () => void, urgent = false) {
    const due = this.last + this.period - performance.now();
    if (urgent || due <= 0) {
      this.stop();
      this.last = performance.now();
      work();
      return;
    }
    this.waiting = work;
    this.timer ??= setTimeout(() => {
      const next = this.waiting;
      this.stop();
      this.last = performance.now();
      next?.();
    }, due);
  }

  /** Whatever waits is forgotten. */
  stop() {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.waiting = null;
  }
}
