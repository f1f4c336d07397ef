import { useEffect, useState, type RefObject } from 'react';

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

/** Its width in steps of 100 px, so that a dragged window does not ask the yard at each pixel. */
export function useWidthStep(element: RefObject<Element | null>): number {
  const [width, setWidth] = useState(400);
  useEffect(() => {
    if (!element.current || typeof ResizeObserver === 'undefined') return;
    const observer = new ResizeObserver((entries) => {
      const seen = entries.at(-1)!.contentRect.width;
      if (seen > 0) setWidth(Math.min(4000, Math.max(200, Math.ceil(seen / 100) * 100)));
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element]);
  return width;
}
