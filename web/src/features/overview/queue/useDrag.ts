// Dragging a row by its handle with mouse, pen or finger: a line shows where it would land, the list scrolls at its edges,
// Escape leaves everything as it was.
import { useCallback, useEffect, useRef, useState, type PointerEvent as ReactPointerEvent } from 'react';
import { gapAt, landing } from './order';

interface Drag {
  id: number;
  from: number;
  gap: number;
  x: number;
  y: number;
}
const kEdge = 36; // px from the edge at which the list begins to scroll
const kFaint = 4; // px that a shaky finger may move without it being a drag

export function useDrag(count: number, onDrop: (id: number, to: number) => void) {
  const [drag, setDrag] = useState<Drag | null>(null);
  const now = useRef<Drag | null>(null);
  const end = useRef<(() => void) | null>(null);
  const drop = useRef(onDrop);
  drop.current = onDrop;
  const say = (next: Drag | null) => {
    now.current = next;
    setDrag(next);
  };

  const begin = useCallback(
    (event: ReactPointerEvent<HTMLElement>, id: number, from: number) => {
      const rows = event.currentTarget.closest<HTMLElement>('[data-rows]');
      const box = rows?.parentElement;
      if (event.button !== 0 || !rows || !box || end.current) return;
      const handle = event.currentTarget;
      handle.setPointerCapture(event.pointerId);
      const height = rows.offsetHeight / Math.max(1, count);
      const start = { x: event.clientX, y: event.clientY };
      let at = start;
      let frame = 0;

      const follow = () => {
        const gap = gapAt(at.y - rows.getBoundingClientRect().top, height, count);
        const before = now.current;
        if (!before || before.gap !== gap || before.x !== at.x || before.y !== at.y) say({ id, from, gap, ...at });
      };
      const scroll = () => {
        const { top, bottom } = box.getBoundingClientRect();
        const by = at.y < top + kEdge ? at.y - top - kEdge : at.y > bottom - kEdge ? at.y - bottom + kEdge : 0;
        if (by && now.current) {
          box.scrollTop += Math.max(-14, Math.min(14, by / 3));
          follow();
        }
        frame = requestAnimationFrame(scroll);
      };
      const onMove = (moved: PointerEvent) => {
        at = { x: moved.clientX, y: moved.clientY };
        if (!now.current && Math.hypot(at.x - start.x, at.y - start.y) < kFaint) return;
        follow();
      };
      const stop = () => {
        cancelAnimationFrame(frame);
        handle.removeEventListener('pointermove', onMove);
        handle.removeEventListener('pointerup', onUp);
        handle.removeEventListener('pointercancel', stop);
        window.removeEventListener('keydown', onKey, true);
        end.current = null;
        say(null);
      };
      const onUp = () => {
        const last = now.current;
        stop();
        if (last) drop.current(id, landing(from, last.gap));
      };
      const onKey = (key: KeyboardEvent) => {
        if (key.key !== 'Escape') return;
        key.stopPropagation();
        stop();
      };
      handle.addEventListener('pointermove', onMove);
      handle.addEventListener('pointerup', onUp);
      handle.addEventListener('pointercancel', stop);
      window.addEventListener('keydown', onKey, true);
      frame = requestAnimationFrame(scroll);
      end.current = stop;
    },
    [count],
  );
  useEffect(() => () => end.current?.(), []);
  return { drag, begin };
}
