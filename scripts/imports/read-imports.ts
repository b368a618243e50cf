import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseSync } from 'rolldown/utils';

const SOURCE = /\.(ts|mts|mjs)$/;
const INSTALLED = /[/\\]node_modules[/\\]/;

/** An import as a file states it. */
export interface ImportedName {
  /** As it is written. */
  readonly name: string;
  /** The file, where the name is a relative one; undefined for a package. */
  readonly path?: string | undefined;
  /** `type`: nothing of the file is loaded; `later`: by `import()`. */
  readonly kind: 'now' | 'type' | 'later';
}

/** The files of this repository that each file imports, types and `import()` included. */
type Imports = ReadonlyMap<string, ReadonlySet<string>>;

/** Reads all sources below the folders. */
export function readImports(folders: readonly string[]): Imports {
  return new Map(
    [...readImportedNames(folders)].map(([file, names]) => {
      const paths = names.flatMap(({ path }) => path ?? []);
      return [file, new Set(paths.filter((path) => existsSync(path)))];
    }),
  );
}

/** Imports of each source below the folders, packages included. */
export function readImportedNames(
  folders: readonly string[],
): ReadonlyMap<string, readonly ImportedName[]> {
  const files = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' })
      .map((name) => join(folder, name))
      .filter((path) => SOURCE.test(path) && !INSTALLED.test(path)),
  );
  return new Map(
    files.map((file) => {
      const names = importedNames(file, readFileSync(file, 'utf8'));
      return [file, names.map((named) => ({ ...named, path: pathOf(named.name, file) }))];
    }),
  );
}

function pathOf(name: string, file: string): string | undefined {
  return name.startsWith('.') ? join(dirname(file), name.replace(/\?.*$/, '')) : undefined;
}

/** Names in imports, exports from other files and `import()` of a name that is written out. */
export function importedNames(path: string, text: string): ImportedName[] {
  const { module, errors } = parseSync(path, text);
  if (errors[0] !== undefined) throw new Error(`${path}: ${errors[0].message}`);
  const imported = module.staticImports.map(
    ({ moduleRequest, entries }) =>
      ({
        name: moduleRequest.value,
        kind: entries.length > 0 && entries.every(({ isType }) => isType) ? 'type' : 'now',
      }) as const,
  );
  const exported = module.staticExports
    .flatMap(({ entries }) => entries)
    .flatMap(({ moduleRequest, isType }) =>
      moduleRequest === null
        ? []
        : [{ name: moduleRequest.value, kind: isType ? 'type' : 'now' } as const],
    );
  const later = module.dynamicImports.flatMap(({ moduleRequest: { start, end } }) => {
    const [, name] = /^['"`](.*)['"`]$/.exec(text.slice(start, end)) ?? [];
    return name ?? [];
  });
  return [...imported, ...exported, ...later.map((name) => ({ name, kind: 'later' as const }))];
}
