import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'rolldown/utils';

const SOURCE = /\.(ts|mts|mjs)$/;
const INSTALLED = /[/\\]node_modules[/\\]/;

/** The files of this repository that each file imports, types and `import()` included. */
export type Imports = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads all sources below the folders. */
export function readImports(folders: readonly string[]): Imports {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => SOURCE.test(path) && !INSTALLED.test(path)),
  );
  return new Map(
    files.map((path) => {
      const names = importedNames(path, readFileSync(path, 'utf8'));
      const imported = names.map((name) => join(dirname(path), name.replace(/\?.*$/, '')));
      return [path, new Set(imported.filter((target) => existsSync(target)))];
    }),
  );
}

/** Relative names in imports, exports from other files and `import()` of a name that is written out. */
export function importedNames(path: string, text: string): string[] {
  const { module, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const exported = module.staticExports.flatMap(({ entries }) => entries);
  return [
    ...module.staticImports.map(({ moduleRequest }) => moduleRequest.value),
    ...exported.flatMap(({ moduleRequest }) => moduleRequest?.value ?? []),
    ...module.dynamicImports.map(({ moduleRequest: { start, end } }) =>
      text.slice(start, end).replace(/^(['"`])(.*)\1$/, '$2'),
    ),
  ].filter((name) => name.startsWith('.'));
}
