// Scroller maps a bar that a browser can draw to a log of any length. A browser's tallest element ends somewhere between 17
// and 33 million pixels, which is less than a million lines, and wrapped lines have heights that are known only once they are
// drawn. So what is kept is no distance from the top but the first line in sight; small moves go by the pixel from there, large
// ones (a thumb that is dragged) by their share of the way.
export const tallest = 8_000_000; // pixels of the element that scrolls

const dragged = 4000; // pixels at once: no wheel turns that far, a thumb goes farther with each of its own pixels

export interface Anchor {
  line: number;
  offset: number; // pixels of that line above the upper edge
}

export class Scroller {
  line = 0;
  offset = 0;
  total = 0;
  viewport = 0;
  /** Where the bar stood when it was last looked at or put. */
  lastTop = 0;
  private readonly measured = new Map<number, number>();
  private measuredSum = 0;
  /** What a line that was never drawn may be high; wrapped lines alone. */
  private estimate: ((line: number) => number) | null = null;

  constructor(readonly row: number) {}

  /** Lines of one row each, or wrapped ones with a guess for those that were not measured. */
  wrap(estimate: ((line: number) => number) | null) {
    this.heightsChange(() => (this.estimate = estimate));
  }
  /** Lines wrap elsewhere now: none is as high as it was measured. */
  forgetHeights() {
    this.heightsChange();
  }
  /** The line at the upper edge stays there, with as much of it above as before. */
  private heightsChange(change?: () => void) {
    const above = this.offset / Math.max(1, this.heightOf(this.line));
    this.measured.clear();
    this.measuredSum = 0;
    change?.();
    this.offset = Math.floor(above * this.heightOf(this.line));
  }

  heightOf(line: number): number {
    return this.estimate ? (this.measured.get(line) ?? this.estimate(line)) : this.row;
  }

  /** Every pixel of the bar is one of the log. */
  get exact(): boolean {
    return !this.estimate && this.total * this.row <= tallest;
  }

  /** How high the element is that scrolls. */
  get spacer(): number {
    if (this.exact) return Math.max(this.total * this.row, this.viewport);
    const mean = this.measured.size > 0 ? Math.max(this.row, this.measuredSum / this.measured.size) : this.row;
    const { line, offset } = this.end();
    const least = line > 0 || offset > 0 ? this.viewport * 2 : this.viewport; // something to scroll by, when there is something to see
    return Math.max(least, Math.min(tallest, Math.ceil(this.total * mean)));
  }

  /** Where the last line stands at the lower edge. */
  end(): Anchor {
    if (!this.estimate) {
      const top = Math.max(0, this.total * this.row - this.viewport);
      return { line: Math.floor(top / this.row), offset: top % this.row };
    }
    let height = 0;
    for (let line = this.total - 1; line >= 0; line--) {
      height += this.heightOf(line);
      if (height >= this.viewport) return { line, offset: height - this.viewport };
    }
    return { line: 0, offset: 0 };
  }

  get atEnd(): boolean {
    const { line, offset } = this.end();
    return this.line > line || (this.line === line && this.offset >= offset - 2);
  }
  toEnd() {
    Object.assign(this, this.end());
  }

  /** `line` at the upper edge, or a third below it where `seen` asks for what is before it too. */
  toLine(line: number, seen = false) {
    this.line = Math.max(0, Math.min(line, this.total - 1));
    this.offset = 0;
    if (seen) this.moveBy(-Math.floor(this.viewport / 3));
    else this.clamp();
  }

  moveBy(pixels: number) {
    this.offset += pixels;
    if (!this.estimate) {
      const top = Math.max(0, this.line * this.row + this.offset);
      this.line = Math.floor(top / this.row);
      this.offset = top % this.row;
    } else {
      while (this.offset < 0 && this.line > 0) this.offset += this.heightOf(--this.line);
      if (this.offset < 0) this.offset = 0;
      while (this.line < this.total - 1 && this.offset >= this.heightOf(this.line)) this.offset -= this.heightOf(this.line++);
    }
    this.clamp();
  }

  clamp() {
    const { line, offset } = this.end();
    if (this.line > line || (this.line === line && this.offset > offset)) Object.assign(this, { line, offset });
  }

  /** A wrapped line was drawn. True when it is not as high as was thought. What is in sight stays where it is. */
  measure(line: number, height: number): boolean {
    const before = this.heightOf(line);
    const known = this.measured.get(line);
    if (known !== height) {
      this.measured.set(line, height);
      this.measuredSum += height - (known ?? 0);
    }
    if (before === height) return false;
    // Reached from below, the line's end is what was in sight: it grows upwards.
    if (line === this.line && this.offset > 0) this.offset = Math.max(0, this.offset + height - before);
    return true;
  }

  /** The way gone, as a share of all. */
  private share(): number {
    const { line, offset } = this.end();
    const whole = line + offset / Math.max(1, this.heightOf(line));
    return whole <= 0 ? 0 : Math.min(1, (this.line + this.offset / Math.max(1, this.heightOf(this.line))) / whole);
  }
  private toShare(share: number) {
    const { line, offset } = this.end();
    const at = share * (line + offset / Math.max(1, this.heightOf(line)));
    this.line = Math.floor(at);
    this.offset = Math.round((at - this.line) * this.heightOf(this.line));
    this.clamp();
  }

  /** The bar stands at `top` now. Says how far up (negative) or down the person went. */
  scrolled(top: number): number {
    const delta = top - this.lastTop;
    this.lastTop = top;
    if (Math.abs(delta) < 0.01) return 0;
    const way = this.spacer - this.viewport;
    if (this.exact) {
      this.line = Math.floor(top / this.row);
      this.offset = top - this.line * this.row;
      this.clamp();
    } else if (Math.abs(delta) > Math.max(dragged, this.viewport * 2) || this.atEdgeOfShort(top, way)) this.toShare(Math.min(1, top / way));
    else this.moveBy(delta);
    return delta;
  }

  /** At an end of a bar that is about as long as the log: there is no more to come. */
  private atEdgeOfShort(top: number, way: number): boolean {
    return this.total * this.row < tallest && (top <= 0 || top >= way - 1);
  }

  /** Where the bar should stand. */
  get top(): number {
    if (this.exact) return this.line * this.row + this.offset;
    return this.share() * (this.spacer - this.viewport);
  }
  /** The bar was put there, by us. */
  placed(top: number) {
    this.lastTop = top;
  }

  /** Lines to draw with their distance from the upper edge, `extra` more on either side. */
  rows(extra: number): { line: number; y: number }[] {
    let line = this.line;
    let y = 0 - this.offset; // never -0
    for (let i = 0; i < extra && line > 0; i++) y -= this.heightOf(--line);
    const rows: { line: number; y: number }[] = [];
    for (let below = 0; line < this.total && below <= extra; line++) {
      rows.push({ line, y });
      y += this.heightOf(line);
      if (y >= this.viewport) below++;
    }
    return rows;
  }
}
