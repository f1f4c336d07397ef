// Paints lines on a canvas, in its pixels.
import { markPlaces, trace, type Area, type Frame } from './trace';
import type { ChartLine } from './line';

interface Palette {
  text: string;
  grid: string;
  edge: string;
  background: string;
}

/** What uPlot's axes and this file draw with; 4.5:1 for text. */
export const palettes: Record<'light' | 'dark', Palette> = {
  light: { text: '#59636e', grid: '#eceff2', edge: '#ccd3da', background: '#ffffff' },
  dark: { text: '#9aa5b1', grid: '#292e34', edge: '#454d55', background: '#1b1f23' },
};

const piece = 128; // lines of a path

/** All lines, pale ones first so that they lie behind; marks last. `ratio`: canvas pixels for one of the page. */
export function paintLines(ctx: CanvasRenderingContext2D, lines: readonly ChartLine[], frame: Frame, area: Area, ratio: number, palette: Palette) {
  ctx.save();
  ctx.beginPath();
  ctx.rect(area.left, area.top, area.width, area.height);
  ctx.clip();
  if (frame.y.floor > 0) paintFloor(ctx, frame, area, ratio, palette);
  ctx.lineJoin = 'round';
  for (const line of lines) if (line.faint) paintLine(ctx, line, frame, area, ratio);
  for (const line of lines) if (!line.faint) paintLine(ctx, line, frame, area, ratio);
  for (const line of lines) paintMarks(ctx, line, frame, area, ratio);
  ctx.restore();
}

/** Below this line stands what a logarithm has no place for. */
function paintFloor(ctx: CanvasRenderingContext2D, frame: Frame, area: Area, ratio: number, palette: Palette) {
  const y = Math.round(area.top + (1 - frame.y.floor) * area.height) + 0.5;
  ctx.beginPath();
  ctx.strokeStyle = palette.edge;
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  ctx.moveTo(area.left, y);
  ctx.lineTo(area.left + area.width, y);
  ctx.stroke();
}

function paintLine(ctx: CanvasRenderingContext2D, line: ChartLine, frame: Frame, area: Area, ratio: number) {
  const { points, look, faint } = line;
  const smooth = points.smooth && points.smooth.x.length > 0 ? points.smooth : null;
  const dash = (faint ? [3, 3] : look.dash).map((length) => length * ratio);
  ctx.strokeStyle = ctx.fillStyle = look.color;
  // The raw values lie faint behind their average, as thin as the screen can; dashes are for the line that is followed.
  ctx.globalAlpha = (faint ? 0.5 : 1) * (smooth ? Math.min(0.65, 0.35 * ratio) : 1);
  const thick = faint ? 1.2 : 1.6;
  const thin = 1; // noise that fills an area does so with thin lines too
  stroke(points, smooth ? 1 / ratio : travelOf(points, frame, area) > 6 * area.width ? thin : thick, smooth && !faint ? [] : dash);
  if (smooth) {
    ctx.globalAlpha = faint ? 0.5 : 1;
    stroke(smooth, faint ? 1.2 : 2, dash);
  }
  ctx.globalAlpha = 1;

  function stroke(curve: typeof points, width: number, dashes: number[]) {
    const radius = Math.max(1.8, width * 1.2) * ratio;
    const dots: number[] = [];
    ctx.lineWidth = width * ratio;
    ctx.setLineDash(dashes);
    ctx.beginPath();
    // A path of thousands of steep lines takes a browser seconds where it draws without a graphics card, many short ones take
    // it little (measured: 10 lines of 6,000 points, 2,000 ms and 150 ms). Dashes go on where the piece before ended.
    let [steps, length, lastX, lastY] = [0, 0, 0, 0];
    trace(curve, frame, area, {
      moveTo: (x, y) => {
        ctx.moveTo(x, y);
        [lastX, lastY] = [x, y];
      },
      lineTo: (x, y) => {
        ctx.lineTo(x, y);
        if (dashes.length > 0) length += Math.hypot(x - lastX, y - lastY);
        [lastX, lastY] = [x, y];
        if (++steps % piece !== 0) return;
        ctx.stroke();
        ctx.lineDashOffset = length;
        ctx.beginPath();
        ctx.moveTo(x, y);
      },
      dot: (x, y) => dots.push(x, y),
    });
    ctx.stroke();
    ctx.lineDashOffset = 0;
    if (dots.length === 0) return;
    // Squares where there are too many for circles: arcs are what makes a canvas slow.
    const round = dots.length < 4000;
    ctx.beginPath();
    for (let i = 0; i < dots.length; i += 2) {
      const [x, y] = [dots[i]!, dots[i + 1]!];
      if (round) {
        ctx.moveTo(x + radius, y);
        ctx.arc(x, y, radius, 0, 2 * Math.PI);
      } else ctx.rect(x - radius / 2, y - radius / 2, radius, radius);
    }
    ctx.fill();
  }
}

/** How far up and down a curve goes, in pixels. */
function travelOf(curve: ChartLine['points'], frame: Frame, area: Area): number {
  let [travel, last] = [0, 0];
  trace(curve, frame, area, {
    moveTo: (_, y) => void (last = y),
    lineTo: (_, y) => {
      travel += Math.abs(y - last);
      last = y;
    },
    dot: () => {},
  });
  return travel;
}

function paintMarks(ctx: CanvasRenderingContext2D, line: ChartLine, frame: Frame, area: Area, ratio: number) {
  const places = markPlaces(line, frame, area);
  if (places.length === 0) return;
  ctx.strokeStyle = ctx.fillStyle = line.look.color;
  ctx.globalAlpha = line.faint ? 0.5 : 1;
  ctx.setLineDash([]);
  ctx.lineWidth = 1.5 * ratio;
  const bottom = area.top + area.height;
  const size = 4 * ratio;
  ctx.beginPath();
  for (const { x, kind } of places) {
    if (kind !== 'nan') continue;
    ctx.moveTo(x, bottom - 7 * ratio);
    ctx.lineTo(x, bottom);
  }
  ctx.stroke();
  ctx.beginPath();
  for (const { x, kind } of places) {
    if (kind === 'nan') continue;
    const [tip, foot] = kind === 'above' ? [area.top + ratio, area.top + ratio + size * 1.6] : [bottom - ratio, bottom - ratio - size * 1.6];
    ctx.moveTo(x, tip);
    ctx.lineTo(x - size, foot);
    ctx.lineTo(x + size, foot);
    ctx.closePath();
  }
  ctx.fill();
  ctx.globalAlpha = 1;
}
