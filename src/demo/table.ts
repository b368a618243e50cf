import { element } from './element.ts';

/** A table of texts with a row of headings. */
export function table(
  columns: readonly string[],
  rows: readonly (readonly (Node | string)[])[],
): HTMLTableElement {
  const head = columns.map((text) => element('th', { scope: 'col' }, text));
  const body = rows.map((cells) =>
    element('tr', {}, ...cells.map((cell) => element('td', {}, cell))),
  );
  return element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...body),
  );
}
