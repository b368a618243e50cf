// The colours that the visitor chose, before anything is painted: a classic script in the head, behind the style.

const KEY = 'weft-theme';

/** A page that may not store keeps the choice until it goes. */
function stored(value?: string): string | undefined {
  try {
    if (value !== undefined) localStorage.setItem(KEY, value);
    return localStorage.getItem(KEY) ?? undefined;
  } catch {
    return value;
  }
}

/** Rules for dark colours hold always or never, whatever the system prefers. */
function setDark(isDark: boolean): void {
  document.documentElement.style.colorScheme = isDark ? 'dark' : 'light';
  for (const sheet of document.styleSheets) {
    for (const rule of sheet.cssRules) {
      if (!(rule instanceof CSSMediaRule)) continue;
      if (rule.conditionText.includes('prefers-color-scheme')) darkRules.add(rule);
      if (darkRules.has(rule)) rule.media.mediaText = isDark ? 'all' : 'not all';
    }
  }
}

const darkRules = new Set<CSSMediaRule>();
const chosen = stored();
let isDark =
  chosen === undefined ? matchMedia('(prefers-color-scheme: dark)').matches : chosen === 'dark';
if (chosen !== undefined) setDark(isDark);

document.addEventListener('DOMContentLoaded', () => {
  const button = document.querySelector('#theme');
  if (!(button instanceof HTMLButtonElement)) return;
  button.hidden = false;
  button.ariaPressed = String(isDark);
  button.addEventListener('click', () => {
    isDark = !isDark;
    stored(isDark ? 'dark' : 'light');
    setDark(isDark);
    button.ariaPressed = String(isDark);
  });
});
