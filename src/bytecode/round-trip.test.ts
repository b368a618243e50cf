import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryExecutable } from './arbitrary-executable.ts';
import { Executable } from './executable-file.ts';
import { listingLine } from './print-instruction.ts';
import { verifyExecutable } from './verify.ts';

describe('random executables', () => {
  test('bytes round-trip', () => {
    const property = fc.property(arbitraryExecutable(), (executable) => {
      const bytes = executable.toBytes({ blockByteLength: 256 });
      const again = Executable.fromBytes(bytes);
      expect(again).toEqual(executable);
      expect(again.toBytes({ blockByteLength: 256 })).toEqual(bytes);
    });
    fc.assert(property, { seed: 1, numRuns: 150 });
  });

  test('text round-trips to the same bytes', () => {
    const property = fc.property(arbitraryExecutable(), (executable) => {
      const text = executable.toText();
      const again = Executable.fromText(text);
      expect(again).toEqual(executable);
      expect(again.toBytes()).toEqual(executable.toBytes());
      expect(again.toText()).toBe(text);
    });
    fc.assert(property, { seed: 2, numRuns: 150 });
  });

  test('listing lines are where the listing has them', () => {
    const property = fc.property(arbitraryExecutable(), (executable) => {
      const lines = executable.toText().split('\n');
      for (const { name } of executable.functions) {
        for (let i = 0; ; i++) {
          const found = listingLine(executable, name, i);
          if (found === undefined) break;
          expect(lines[found.line - 1]?.trim()).toBe(`${i}: ${found.text}`);
        }
      }
    });
    fc.assert(property, { seed: 3, numRuns: 50 });
  });

  test('TypeScript rebuilds the same bytes', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'weft-typescript-'));
    try {
      const importFrom = new URL('./index.ts', import.meta.url).pathname;
      const samples = fc.sample(arbitraryExecutable(), { seed: 4, numRuns: 40 });
      for (const [index, executable] of samples.entries()) {
        const file = join(folder, `executable-${index}.ts`);
        await writeFile(file, executable.toTypeScript({ importFrom }));
        const module = (await import(file)) as { buildExecutable(): Executable };
        expect(module.buildExecutable().toBytes()).toEqual(executable.toBytes());
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test('are valid, and so is what is read back', () => {
    for (const executable of fc.sample(arbitraryExecutable(), { seed: 5, numRuns: 50 })) {
      expect(() => verifyExecutable(executable)).not.toThrow();
    }
  });
});
