import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { seededRandom } from '../../src/core/random.ts';
import { type Change, makeChange, productFiles, roomOf } from './change.ts';
import { findMutations } from './find-mutations.ts';

/**
 * Changes of product files by the mutators, at most one for each file: one for each room, then more for rooms with more files.
 * The mutators that find something in a file are equally likely. More changes of a seed begin with the same ones.
 */
export function drawChanges(
  root: string,
  { seed, count }: { readonly seed: number; readonly count: number },
): Change[] {
  const random = seededRandom(seed);
  const one = <T>(items: readonly T[]): T | undefined => items[Math.floor(random() * items.length)];
  const rooms = new Map<string, string[]>();
  for (const file of productFiles(root)) {
    rooms.set(roomOf(file), [...(rooms.get(roomOf(file)) ?? []), file]);
  }
  const drawIn = (room: string): Change | undefined => {
    for (;;) {
      const left = rooms.get(room) ?? [];
      const file = one(left);
      if (file === undefined) return undefined;
      rooms.set(
        room,
        left.filter((other) => other !== file),
      );
      const all = findMutations(file, readFileSync(join(root, file), 'utf8'));
      const kind = one([...new Set(all.map((mutation) => mutation.kind))]);
      const drawn = one(all.filter((mutation) => mutation.kind === kind));
      // Without one, a file has nothing but types or names of other files.
      if (drawn !== undefined) return makeChange({ file, ...drawn });
    }
  };
  const drawn = [...rooms.keys()].flatMap((room) => drawIn(room) ?? []);
  while (drawn.length < count) {
    const change = drawIn(roomByWeight(rooms, random()));
    if (change === undefined) break;
    drawn.push(change);
  }
  return drawn.slice(0, count);
}

/** Rooms weigh as the root of the number of their files that are left, so that small ones get some too. */
function roomByWeight(rooms: ReadonlyMap<string, readonly string[]>, share: number): string {
  const weights = [...rooms].map(([room, files]) => ({ room, weight: Math.sqrt(files.length) }));
  let rest = share * weights.reduce((sum, { weight }) => sum + weight, 0);
  return weights.find(({ weight }) => (rest -= weight) < 0)?.room ?? '';
}
