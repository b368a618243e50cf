import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Where packages are kept. */
const CACHE = fileURLToPath(new URL('../../.weft-cache/real-models', import.meta.url));

/** A package of the registry, whose archive is taken without what it depends on. */
export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  /** Of the archive. */
  readonly integrity: string;
}

/** The folder of a package's files, unpacked into the cache unless it is there. Throws for an archive with another hash. */
export function unpackPackage(pack: ShippedPackage): string {
  const folder = join(CACHE, `${pack.name.replaceAll(/[@/]/g, '_')}-${pack.version}`);
  if (existsSync(folder)) return folder;
  const spec = `${pack.name}@${pack.version}`;
  console.log(`Fetching ${spec} …`);
  mkdirSync(CACHE, { recursive: true });
  const temporary = mkdtempSync(join(CACHE, 'new-'));
  try {
    const words = ['pack', spec, '--json', '--ignore-scripts', '--pack-destination', temporary];
    const said: unknown = JSON.parse(execFileSync('npm', words, { encoding: 'utf8' }));
    const [{ filename, integrity }] = said as [{ filename: string; integrity: string }];
    if (integrity !== pack.integrity) {
      throw new Error(`${spec}: got an archive of ${integrity}, expected ${pack.integrity}.`);
    }
    execFileSync('tar', ['-xzf', join(temporary, filename), '-C', temporary]);
    renameSync(join(temporary, 'package'), folder);
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
  return folder;
}

interface Resource {
  readonly chunks: readonly { readonly hash: string }[];
}

/**
 * The bytes of a model in a package: of a file, or, behind `#`, of what `resources.json` joins from pieces, as background-removal-data
 * has it.
 */
export function readModel(folder: string, file: string): Uint8Array {
  const [path = '', key] = file.split('#');
  const bytes = readFileSync(join(folder, path));
  if (key === undefined) return new Uint8Array(bytes);
  const resources: unknown = JSON.parse(bytes.toString());
  const { chunks } = (resources as Record<string, Resource>)[key] ?? { chunks: [] };
  if (chunks.length === 0) throw new Error(`${path}: got no ${key}, expected a model.`);
  const pieces = chunks.map(({ hash }) => readFileSync(join(folder, path, '..', hash)));
  return new Uint8Array(Buffer.concat(pieces));
}
