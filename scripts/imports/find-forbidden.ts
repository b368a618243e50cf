import { relative } from 'node:path';
import type { ImportZone } from './import-zones.ts';
import type { ImportedName } from './read-imports.ts';

/** One import that its zone does not allow, as a line: file, what it imports, and why not. */
type ForbiddenImport = string;

/** All outside of `src/` that files in it may import: shaders, and the metadata of the package. */
const OUTSIDE = /^\.\.\/(?:shaders\/|package\.json$)/;

const isTest = (path: string): boolean => /\.(test|cases)\.ts$|(^|\/)testing\//.test(path);

/** The innermost zone that a path lies in. */
function zoneOf(path: string, zones: Zones): string {
  const names = Object.keys(zones).filter((name) => path.startsWith(`${name}/`));
  return names.sort((a, b) => b.length - a.length)[0] ?? path.split('/')[0] ?? '';
}

type Zones = Readonly<Record<string, ImportZone>>;

/**
 * The imports of shipped files that their zones forbid, and those of all files, tests too, that leave
 * the folder of the zones for anything but shaders and package.json. Paths of `imports` are absolute, or names of
 * packages; `root` is the folder of the zones.
 */
export function findForbidden(
  imports: ReadonlyMap<string, readonly ImportedName[]>,
  { root, zones }: { readonly root: string; readonly zones: Zones },
): ForbiddenImport[] {
  return [...imports].flatMap(([absolute, names]) => {
    const file = relative(root, absolute);
    const folder = zoneOf(file, zones);
    if (!isTest(file) && zones[folder] === undefined) {
      return [`${file}: the folder ${folder} has no zone`];
    }
    return names.flatMap((imported) => {
      const why =
        reasonOutside(imported, root) ??
        (isTest(file) ? undefined : reasonAgainst(imported, { zones, folder, root }));
      return why === undefined ? [] : [`${file} imports ${imported.name}: ${why}`];
    });
  });
}

function reasonOutside({ path }: ImportedName, root: string): string | undefined {
  const target = path === undefined ? '' : relative(root, path).replaceAll('\\', '/');
  return target.startsWith('../') && !OUTSIDE.test(target)
    ? 'src/ imports nothing outside of it but shaders/ and package.json'
    : undefined;
}

interface Place {
  readonly zones: Zones;
  readonly folder: string;
  readonly root: string;
}

function reasonAgainst(
  { name, path, kind }: ImportedName,
  { zones, folder, root }: Place,
): string | undefined {
  const { imports = [], later = [], isForNode = false } = zones[folder] ?? {};
  if (path === undefined) {
    return name.startsWith('node:') && !isForNode ? `src/${folder} runs in the browser` : undefined;
  }
  const target = relative(root, path);
  if (target.startsWith('..')) return undefined;
  if (isTest(target)) return 'nothing that ships imports what serves tests';
  const names = [target, zoneOf(target, zones)];
  if (names.some((allowed) => allowed === folder || imports.includes(allowed))) return undefined;
  if (!names.some((allowed) => later.includes(allowed))) {
    return `src/${folder} may import only ${imports.join(', ') || 'itself'}`;
  }
  return kind !== 'now'
    ? undefined
    : `src/${folder} may load it by import() only, and import its types`;
}
