import { useEffect, useLayoutEffect, useState, type RefObject } from 'react';

/** Whether an element is in view or soon will be; true where nobody can tell. */
export function useInView(element: RefObject<Element | null>): boolean {
  const [inView, setInView] = useState(typeof IntersectionObserver === 'undefined');
  useEffect(() => {
    if (!element.current || typeof IntersectionObserver === 'undefined') return;
    const observer = new IntersectionObserver((entries) => setInView(entries.at(-1)!.isIntersecting), { rootMargin: '240px 0px' });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return inView;
}

const step = (width: number) => Math.min(4000, Math.max(200, Math.ceil(width / 100) * 100));

/** Its width in steps of 100 px, so that a dragged window does not ask the yard at each pixel; null until it is known. */
export function useWidthStep(element: RefObject<Element | null>): number | null {
  const [width, setWidth] = useState<number | null>(null);
  useLayoutEffect(() => {
    if (!element.current) return;
    setWidth(step(element.current.getBoundingClientRect().width));
    if (typeof ResizeObserver === 'undefined') return;
    const observer = new ResizeObserver((entries) => {
      const seen = entries.at(-1)!.contentRect.width;
      if (seen > 0) setWidth(step(seen));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
