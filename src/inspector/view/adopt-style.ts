/** Adds the style of a view to the element that it is in, as a sheet that a strict policy allows. */
export function adoptStyle(root: HTMLElement, style: string): void {
  const shadow = root.getRootNode();
  if (!(shadow instanceof ShadowRoot)) return;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(style);
  shadow.adoptedStyleSheets = [...shadow.adoptedStyleSheets, sheet];
}
