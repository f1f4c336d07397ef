/** Writes text to the clipboard, also on plain HTTP where browsers hide theirs; false: it could not. */
export async function copyText(text: string): Promise<boolean> {
  try {
    if (await navigator.clipboard?.writeText(text).then(() => true)) return true;
  } catch {
    // Not allowed: the old way may be.
  }
  const focused = document.activeElement;
  const field = document.createElement('textarea');
  field.value = text;
  field.style.position = 'fixed';
  field.style.opacity = '0';
  document.body.append(field);
  field.select();
  let done = false;
  try {
    done = document.execCommand('copy');
  } catch {
    done = false;
  }
  field.remove();
  if (focused instanceof HTMLElement) focused.focus({ preventScroll: true });
  return done;
}
