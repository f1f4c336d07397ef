// The binary body of `GET /tasks/{task}/points` (docs/formats/points.md). Nothing in it is trusted: a body that does not hold
// what its header says becomes a fault, and x that came out of order is put in order, because whatever reads it bisects.
export interface Curve {
  x: Float64Array;
  y: Float64Array; // NaN and infinities as they are
}
export interface Marks {
  x: Float64Array;
  kind: Float64Array; // one of `mark`
}
export const mark = { nan: 1, plusInfinity: 2, minusInfinity: 3 } as const;

export interface Part extends Curve {
  attempt: number;
  points: number; // the attempt has that many in the range
  exact: boolean; // and all of them are here
  marks: Marks; // of the values that are not finite, at most one of a kind for a pixel
  smooth: Curve; // empty when none was asked for
}
export interface Points {
  tag: string;
  x: string;
  version: number;
  parts: Part[];
}
interface PointsFault {
  fault: string;
}

const mostParts = 100_000;

/** The points of a body, or what is wrong with it. */
export function decodePoints(body: ArrayBuffer | Uint8Array): Points | PointsFault {
  const bytes = aligned(body);
  if (bytes.byteLength < 8) return { fault: 'shorter than its preamble' };
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== 0x31505954) return { fault: 'does not begin with TYP1' };
  const headerEnd = 8 + view.getUint32(4, true);
  if (headerEnd > bytes.byteLength) return { fault: 'shorter than its header' };
  if (headerEnd % 8 !== 0) return { fault: 'its header is not padded to 8 bytes' };
  const header = readHeader(bytes.subarray(8, headerEnd));
  if ('fault' in header) return header;

  let offset = headerEnd;
  const take = (count: number): Float64Array => {
    const numbers = new Float64Array(bytes.buffer, bytes.byteOffset + offset, count);
    offset += count * 8;
    return numbers;
  };
  const parts: Part[] = [];
  for (const said of header.parts) {
    const left = (bytes.byteLength - offset) / 8;
    if (2 * (said.given + said.marks + said.smooth) > left) return { fault: `shorter than attempt ${said.attempt} says` };
    const points = inOrder(take(said.given), take(said.given));
    const marks = inOrder(take(said.marks), take(said.marks));
    const smooth = inOrder(take(said.smooth), take(said.smooth));
    parts.push({
      attempt: said.attempt,
      points: said.points,
      exact: said.exact,
      ...points,
      marks: { x: marks.x, kind: marks.y },
      smooth,
    });
  }
  if (offset !== bytes.byteLength) return { fault: 'longer than its parts' };
  return { tag: header.tag, x: header.x, version: header.version, parts };
}

/** A view of the body whose first byte lies at a multiple of 8, as Float64Array wants it. */
function aligned(body: ArrayBuffer | Uint8Array): Uint8Array<ArrayBuffer> {
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (body.byteOffset % 8 === 0 && body.buffer instanceof ArrayBuffer) return body as Uint8Array<ArrayBuffer>;
  return new Uint8Array(body); // a copy
}

interface PartHeader {
  attempt: number;
  points: number;
  given: number;
  marks: number;
  smooth: number;
  exact: boolean;
}
interface Header {
  tag: string;
  x: string;
  version: number;
  parts: PartHeader[];
}

function readHeader(bytes: Uint8Array): Header | PointsFault {
  let said: unknown;
  try {
    said = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return { fault: 'its header is not JSON' };
  }
  const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;
  const head = said as Partial<Header> | null;
  if (!head || typeof head !== 'object' || typeof head.tag !== 'string' || typeof head.x !== 'string' || !isCount(head.version))
    return { fault: 'its header lacks something' };
  if (!Array.isArray(head.parts) || head.parts.length > mostParts) return { fault: 'its header has no list of parts' };
  for (const part of head.parts as unknown[]) {
    const { attempt, points, given, marks, smooth, exact } = (part ?? {}) as Partial<PartHeader>;
    if (![attempt, points, given, marks, smooth].every(isCount) || typeof exact !== 'boolean')
      return { fault: 'a part of its header lacks something' };
  }
  return head as Header;
}

/** Pairs in order of x, without those whose x is no number. The same arrays when nothing is to be done, as always it should be. */
function inOrder(x: Float64Array, y: Float64Array): Curve {
  let good = true;
  for (let i = 0; i < x.length && good; i++) good = Number.isFinite(x[i]) && (i === 0 || x[i]! >= x[i - 1]!);
  if (good) return { x, y };
  const order = Array.from(x.keys()).filter((i) => Number.isFinite(x[i]));
  order.sort((a, b) => x[a]! - x[b]! || a - b);
  return { x: Float64Array.from(order, (i) => x[i]!), y: Float64Array.from(order, (i) => y[i]!) };
}
