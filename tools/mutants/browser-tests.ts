import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SCRIPT = /<script type="module" src="([^"]+)"/g;
/** Texts that begin as the address of a page of this server. */
const ADDRESS = /['"`]\/([\w./-]*)/g;

export const isBrowserTest = (test: string): boolean => test.endsWith('.spec.ts');

/** Files of browser tests by the scripts of the pages that they open. */
export function browserTestsByScript(root: string): ReadonlyMap<string, readonly string[]> {
  const textOf = (name: string): string => readFileSync(join(root, name), 'utf8');
  const filesOf = (folder: string, end: string): string[] =>
    readdirSync(join(root, folder))
      .filter((name) => name.endsWith(end))
      .map((name) => `${folder}${name}`);
  const tests = filesOf('e2e/', '.spec.ts').map((test) => ({
    test,
    pages: new Set([...textOf(test).matchAll(ADDRESS)].map(([, path]) => path || 'index.html')),
  }));
  const byScript = new Map<string, readonly string[]>();
  for (const page of [...filesOf('', '.html'), ...filesOf('e2e/pages/', '.html')]) {
    const opening = tests.flatMap(({ test, pages }) => (pages.has(page) ? [test] : []));
    for (const [, name = ''] of textOf(page).matchAll(SCRIPT)) {
      const script = name.startsWith('/') ? name.slice(1) : join(page, '..', name);
      byScript.set(script, [...(byScript.get(script) ?? []), ...opening]);
    }
  }
  return byScript;
}
