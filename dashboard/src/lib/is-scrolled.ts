import { useEffect, useState } from 'react';

/** Farther down than this, a row that is added at the top moves what the reader looks at. */
const TOP_PX = 80;

/** Whether the reader has scrolled away from the top of the page. */
export function useIsScrolled(): boolean {
  const [isScrolled, setScrolled] = useState(false);
  useEffect(() => {
    const look = () => setScrolled(window.scrollY > TOP_PX);
    look();
    window.addEventListener('scroll', look, { passive: true });
    return () => window.removeEventListener('scroll', look);
  }, []);
  return isScrolled;
}
