import { useEffect, useState } from 'react';

const kHour = 3_600_000;
const hourNow = () => Math.floor(Date.now() / kHour) * kHour;

/** The hour that it is (ms), looked at once a minute: what asks by it is not drawn again each second. */
export function useHour(): number {
  const [hour, setHour] = useState(hourNow);
  useEffect(() => {
    const timer = setInterval(() => setHour(hourNow()), 60_000);
    return () => clearInterval(timer);
  }, []);
  return hour;
}
