import { relative } from 'node:path';
import type { ImportZone } from './import-zones.ts';
import type { ImportedName } from './read-imports.ts';

/** One import that its zone does not allow, as a line: file, what it imports, and why not. */
export type ForbiddenImport = string;

const isTest = (path: string): boolean => /\.(test|cases)\.ts$|(^|\/)testing\//.test(path);

const covers = (allowed: readonly string[], path: string): boolean =>
  allowed.some((name) => path === name || path.startsWith(`${name}/`));

/**
 * The imports of shipped files that their zones forbid. Paths of `imports` are absolute, or names of
 * packages; `root` is the folder of the zones.
 */
export function findForbidden(
  imports: ReadonlyMap<string, readonly ImportedName[]>,
  { root, zones }: { readonly root: string; readonly zones: Readonly<Record<string, ImportZone>> },
): ForbiddenImport[] {
  return [...imports].flatMap(([absolute, names]) => {
    const file = relative(root, absolute);
    const [folder = ''] = file.split('/');
    if (isTest(file)) return [];
    const zone = zones[folder];
    if (zone === undefined) return [`${file}: the folder ${folder} has no zone`];
    return names.flatMap((imported) => {
      const why = reasonAgainst(imported, { zone, folder, root });
      return why === undefined ? [] : [`${file} imports ${imported.name}: ${why}`];
    });
  });
}

interface Place {
  readonly zone: ImportZone;
  readonly folder: string;
  readonly root: string;
}

function reasonAgainst(
  { name, path, isLater }: ImportedName,
  { zone, folder, root }: Place,
): string | undefined {
  if (path === undefined) {
    const isOfNode = name.startsWith('node:');
    return isOfNode && zone.isForNode !== true ? `src/${folder} runs in the browser` : undefined;
  }
  const target = relative(root, path);
  // Shaders, and the metadata of the package.
  if (target.startsWith('..')) return undefined;
  if (isTest(target)) return 'nothing that ships imports what serves tests';
  if (covers([folder, ...zone.imports], target)) return undefined;
  if (!covers(zone.later ?? [], target)) {
    return `src/${folder} may import only ${zone.imports.join(', ') || 'itself'}`;
  }
  return isLater ? undefined : `src/${folder} may load it by import() only`;
}
