import { dirname, join, relative } from 'node:path/posix';
import remapping from '@jridgewell/remapping';
import { MagicString } from 'magic-string';
import type { Plugin, Rollup } from 'vite';

/** A chunk that only hands on what another one exports, by other names. */
interface Facade {
  readonly target: string;
  /** Each name here, and what the target calls it. */
  readonly names: readonly (readonly [name: string, original: string])[];
}

const HANDED_ON = /^export \{ ([^}]+) \} from "([^"]+)";\s*$/;

/**
 * Has `import()` of a facade load the chunk behind it: one file less to ask for, before which the browser
 * does not even know what else it needs. Entries stay for those who import them by name.
 */
export function skipFacades(): Plugin {
  return {
    name: 'weft:skip-facades',
    generateBundle(_options, bundle) {
      const chunks = Object.values(bundle).filter((output) => output.type === 'chunk');
      const facades = new Map<string, Facade>();
      for (const chunk of chunks) {
        const facade = facadeOf(chunk);
        if (facade) facades.set(chunk.fileName, facade);
      }
      for (const chunk of chunks) loadTargets(chunk, facades);
      for (const { fileName, isEntry } of chunks) {
        if (facades.has(fileName) && !isEntry) delete bundle[fileName];
      }
    },
  };
}

function facadeOf({ code, fileName }: Rollup.OutputChunk): Facade | undefined {
  const [, list, specifier] = HANDED_ON.exec(code) ?? [];
  if (list === undefined || specifier === undefined) return undefined;
  const names = list.split(', ').map((pair) => {
    const [original = '', name = original] = pair.split(' as ');
    return [name, original] as const;
  });
  return { target: join(dirname(fileName), specifier), names };
}

function loadTargets(chunk: Rollup.OutputChunk, facades: ReadonlyMap<string, Facade>): void {
  const text = new MagicString(chunk.code);
  const addressOf = (fileName: string): string => {
    const path = relative(dirname(chunk.fileName), fileName);
    return JSON.stringify(path.startsWith('.') ? path : `./${path}`);
  };
  for (const fileName of chunk.dynamicImports) {
    const facade = facades.get(fileName);
    if (facade === undefined) continue;
    const names = facade.names.map(([name, original]) => `${name}: chunk.${original}`);
    const loaded = `import(${addressOf(facade.target)}).then((chunk) => ({ ${names.join(', ')} }))`;
    text.replaceAll(`import(${addressOf(fileName)})`, loaded);
  }
  if (!text.hasChanged()) return;
  chunk.code = text.toString();
  const own = JSON.stringify(text.generateMap({ hires: 'boundary', source: chunk.fileName }));
  const original = JSON.stringify(chunk.map);
  const map = remapping(own, (source) => (source === chunk.fileName ? original : null));
  if (chunk.map) Object.assign(chunk.map, { mappings: map.mappings, names: map.names });
}
