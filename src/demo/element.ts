/** Attributes by name; `true` sets an empty one, `undefined` and `false` none. */
export type ElementAttributes = Readonly<Record<string, string | number | boolean | undefined>>;

/** Makes an element. Text children are text, never markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: ElementAttributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? '' : String(value));
  }
  made.append(...children);
  return made;
}

/** A button that aborts what it stands beside. */
export function cancelButton(abort: AbortController): HTMLButtonElement {
  const button = element('button', { type: 'button' }, 'Cancel');
  button.addEventListener('click', () => abort.abort());
  return button;
}

/** The element of the page with this id and class. */
export function byId<T extends Element>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (found instanceof type) return found;
  throw new Error(`internal: the page has no ${type.name} with id ${id}`);
}

/** The first match of a selector below `root`, as an HTMLElement. */
export function select(root: ParentNode, selector: string): HTMLElement {
  const found = root.querySelector(selector);
  if (found instanceof HTMLElement) return found;
  throw new Error(`internal: nothing matches ${selector}`);
}

/** The 2D context of a canvas. */
export function context2d(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
  const context = canvas.getContext('2d');
  if (context === null) throw new Error('This browser gives no 2D canvas.');
  return context;
}

/** Sets or removes an attribute that style sheets look at. */
export function toggleData(target: HTMLElement, name: string, on: boolean): void {
  target.toggleAttribute(`data-${name}`, on);
}

/** Terms and what is known of them. */
export type Facts = readonly (readonly [term: string, text: string])[];

/** Replaces what a description list says. */
export function showFacts(list: HTMLElement, facts: Facts): void {
  list.replaceChildren(
    ...facts.flatMap(([term, text]) => [element('dt', {}, term), element('dd', {}, text)]),
  );
}

const COPIED_MS = 1500;

/** Copies a text, and says so on the button. Where a browser does not allow it, the field is selected, to copy by hand. */
export async function copyText(
  text: string,
  button: HTMLButtonElement,
  field?: HTMLInputElement,
): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    field?.select();
    return;
  }
  const label = button.textContent;
  button.textContent = 'Copied';
  await new Promise((resolve) => setTimeout(resolve, COPIED_MS));
  button.textContent = label;
}
