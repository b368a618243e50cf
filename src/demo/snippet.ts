import { copyText } from './copy-text.ts';
import { element } from './element.ts';

/** The files of the folder as text. */
const SOURCES = import.meta.glob<string>('./snippets/*.ts', {
  query: '?raw',
  import: 'default',
  eager: true,
});

/** Code of a page that does the same, with a button that copies it. This page runs that file, too. */
export function snippetOf(name: string): HTMLElement {
  const text = forHostPage(SOURCES[`./snippets/${name}.ts`] ?? '');
  const copy = element('button', { type: 'button' }, 'Copy');
  copy.addEventListener('click', () => {
    void copyText(text, copy);
  });
  const code = element('code', {}, text);
  const pre = element(
    'pre',
    { class: 'listing', tabindex: 0, role: 'region', 'aria-label': 'Code' },
    code,
  );
  return element(
    'figure',
    { class: 'snippet' },
    element('figcaption', {}, 'In your page ', copy),
    pre,
  );
}

/** The code with the package's name in place of paths of this repository. */
export function forHostPage(source: string): string {
  return source
    .replaceAll(/'(?:\.\.\/)+(text|tasks|client)\/index\.ts'/g, (_, entry: string) =>
      entry === 'client' ? "'weft-vm'" : `'weft-vm/${entry}'`,
    )
    .trim();
}
