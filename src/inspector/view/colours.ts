/** Colours of the inspector's style as they are on an element, by the names of custom properties behind `--weft-`. */
export function coloursOf<Name extends string>(
  element: Element,
  names: readonly Name[],
): Readonly<Record<Name, string>> {
  const style = getComputedStyle(element);
  const entries = names.map((name) => [name, style.getPropertyValue(`--weft-${name}`).trim()]);
  return Object.fromEntries(entries) as Record<Name, string>;
}
