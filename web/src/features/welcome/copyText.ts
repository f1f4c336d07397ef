/** Writes text to the clipboard, also on plain HTTP where browsers hide their clipboard; false: it could not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (await navigator.clipboard?.writeText(text).then(() => true)) return true;
  } catch {
    // Forbidden: by the old way then.
  }
  const before = document.activeElement;
  const area = document.createElement('textarea');
  area.value = text;
  area.readOnly = true;
  area.setAttribute('aria-hidden', 'true');
  area.style.position = 'fixed';
  area.style.opacity = '0';
  document.body.append(area);
  area.select();
  let done = false;
  try {
    done = document.execCommand('copy');
  } catch {
    done = false;
  }
  area.remove();
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  return done;
}
