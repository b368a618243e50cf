import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { arbitraryExecutable } from './testing/arbitrary-executable.ts';
import { ExecBuilder } from './build/exec-builder.ts';
import { Executable } from './file/executable-file.ts';
import { listingLine } from './text/print-instruction.ts';
import { verifyExecutable } from './verify/verify.ts';

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
      // Places stand behind the instructions from which they hold.
      const lines = executable.toText().split('\n');
      for (const { name } of executable.functions) {
        for (let i = 0; ; i++) {
          const found = listingLine(executable, name, i);
          if (found === undefined) break;
          const [line = ''] = lines[found.line - 1]?.split(/ from (?:nowhere|")/) ?? [];
          expect(line.trim()).toBe(`${i}: ${found.text}`);
        }
      }
    });
    fc.assert(property, { seed: 3, numRuns: 50 });
  });

  test('names and texts are data in every form, whatever they say', async () => {
    const text = 'a\u2028\u2029"\'`${x}\\\r\n*/ // \ud83d\ude00 __proto__';
    const b = new ExecBuilder();
    b.metadata('constructor', text);
    const f = b.function(text, [text, '__proto__']);
    f.ret(f.call(`test.${text}`, [b.string(text), f.param(text), f.param('__proto__')]));
    const executable = b.build();
    expect(Executable.fromText(executable.toText()).toBytes()).toEqual(executable.toBytes());
    expect((await rebuilt([executable]))[0]).toEqual(executable.toBytes());
  });

  test('a call of 200,000 arguments', () => {
    const names = Array.from({ length: 200_000 }, (_, index) => `p${index}`);
    const b = new ExecBuilder();
    const f = b.function('main', names);
    f.ret(f.call('main', new Array(names.length).fill(1)));
    const executable = b.build();
    const again = Executable.fromText(executable.toText());
    // Comparing a million bytes one by one takes seconds.
    expect(Buffer.compare(again.toBytes(), executable.toBytes())).toBe(0);
  });

  test('TypeScript rebuilds the same bytes', async () => {
    const samples = fc.sample(arbitraryExecutable(), { seed: 4, numRuns: 40 });
    expect(await rebuilt(samples)).toEqual(samples.map((executable) => executable.toBytes()));
  });

  test('are valid, and so is what is read back', () => {
    for (const executable of fc.sample(arbitraryExecutable(), { seed: 5, numRuns: 50 })) {
      expect(() => verifyExecutable(executable)).not.toThrow();
    }
  });
});

/** The bytes that the TypeScript of executables builds. */
async function rebuilt(executables: readonly Executable[]): Promise<Uint8Array[]> {
  const folder = await mkdtemp(join(tmpdir(), 'weft-typescript-'));
  try {
    const importFrom = new URL('./index.ts', import.meta.url).pathname;
    const all: Uint8Array[] = [];
    for (const [index, executable] of executables.entries()) {
      const file = join(folder, `executable-${index}.ts`);
      await writeFile(file, executable.toTypeScript({ importFrom }));
      const module = (await import(file)) as { buildExecutable(): Executable };
      all.push(module.buildExecutable().toBytes());
    }
    return all;
  } finally {
    await rm(folder, { recursive: true });
  }
}
