import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Sources of other packages, which are published with these. */
export const isOfOtherPackage = (source) => source.includes('node_modules/');

/** Leaves the texts of other packages out of the source maps in a folder: a megabyte. */
export function trimSourceMaps(folder) {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const name of files.filter((file) => file.endsWith('.map'))) {
    const file = join(folder, name);
    const map = JSON.parse(readFileSync(file, 'utf8'));
    if (!map.sources.some(isOfOtherPackage)) continue;
    map.sourcesContent = map.sourcesContent?.map((text, i) =>
      isOfOtherPackage(map.sources[i]) ? null : text,
    );
    writeFileSync(file, JSON.stringify(map));
  }
}
