import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type FileParts,
  putTogether,
  rehashData,
  takeApart,
} from '../../../src/bytecode/testing/file-surgery.ts';
import { sampleExecutable } from '../../../src/bytecode/testing/sample-executable.ts';
import { compile, parseModule } from '../../../src/frontend/index.ts';
import { loopAndTree } from '../../../src/runtime/testing/long-programs.ts';
import { countingLoop, sumAndProduct } from '../../../src/worker/testing/test-programs.ts';
import { Chance } from './chance.ts';
import type { FuzzTarget } from './fuzz-target.ts';
import { runExecutable } from './run-executable.ts';

const PROGRAMS = 'src/compiler/programs';
/** Positions of sections: code more often, where most changes get past the reader. */
const CHANGED_SECTIONS = [0, 1, 1, 1, 1, 2, 3, 4, 5, 6];
/** So often nothing moves. */
const IN_PLACE = 0.85;
/** So often one section comes from another file. */
const SPLICED = 0.05;
/** So often data changes too. */
const CHANGED_DATA = 0.05;

/** Executables with changes in their sections, and right hashes. */
export function executables(): FuzzTarget {
  const files = corpus();
  return {
    input: async (seed) => {
      const chance = new Chance(seed);
      const parts = takeApart(chance.pick(files));
      for (let changes = chance.often(0.7) ? 1 : 3; changes > 0; changes--) {
        mutateSection(parts, chance, files);
      }
      if (!chance.often(CHANGED_DATA)) return new Uint8Array(putTogether(parts));
      const changed = { ...parts, data: chance.mutate(parts.data) };
      return new Uint8Array(putTogether(rehashData(changed)));
    },
    run: runExecutable,
  };
}

function mutateSection(
  { sections }: FileParts,
  chance: Chance,
  files: readonly Uint8Array[],
): void {
  const section = sections[chance.pick(CHANGED_SECTIONS)] ?? chance.pick(sections);
  const other = chance.often(SPLICED)
    ? takeApart(chance.pick(files)).sections.find(({ id }) => id === section.id)
    : undefined;
  const { bytes } = section;
  const changed = chance.often(IN_PLACE) ? chance.change(bytes) : chance.mutate(bytes);
  section.bytes = other?.bytes ?? changed;
}

function corpus(): Uint8Array[] {
  const texts = readdirSync(PROGRAMS)
    .filter((name) => name.endsWith('.ir'))
    .map((name) => readFileSync(join(PROGRAMS, name), 'utf8'));
  const compiled = texts.map((text) => compile(parseModule(text)));
  const built = [sampleExecutable(), sumAndProduct(), countingLoop(), loopAndTree()];
  return [...built, ...compiled].map((executable) => executable.toBytes());
}
