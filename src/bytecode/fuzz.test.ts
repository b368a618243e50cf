import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { FormatError, VerifyError } from '../core/errors.ts';
import { seededRandom } from '../core/random.ts';
import { arbitraryExecutable } from './testing/arbitrary-executable.ts';
import { Executable } from './file/executable-file.ts';
import type { BytecodeFunction, ExecutableData } from './executable.ts';
import { putTogether, rehashData, takeApart } from './testing/file-surgery.ts';
import {
  ARGUMENT_KINDS,
  ArgumentKind,
  argumentKind,
  decodeInstruction,
  encodeArgument,
  jumpTarget,
  operandSpec,
  VM_REGISTER,
  VOID_REGISTER,
} from './isa.ts';
import { sampleExecutable } from './testing/sample-executable.ts';
import { verifyExecutable } from './verify/verify.ts';

const MUTATIONS = 21_000;
/** Values that are close to some limit. */
const EDGES = [0, 1, 2, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 0x0fff_ffff];

/** Positions of sections; code more often, where most changes get past the reader. */
const MUTATED_SECTIONS = [0, 1, 1, 1, 2, 3, 4, 5, 6, 8, 9];

type Random = () => number;

function below(random: Random, limit: number): number {
  return Math.floor(random() * limit);
}

/** One small change: bits, a byte, a word, or bytes that are inserted, dropped or repeated. */
function mutate(bytes: Uint8Array, random: Random): Uint8Array {
  if (bytes.length === 0) return Uint8Array.of(below(random, 256));
  const copy = bytes.slice();
  const at = below(random, bytes.length);
  switch (below(random, 7)) {
    case 0:
      copy[at] = (copy[at] ?? 0) ^ (1 << below(random, 8));
      return copy;
    case 1:
      copy[at] = below(random, 256);
      return copy;
    case 2:
      copy[at] = (copy[at] ?? 0) + (random() < 0.5 ? 1 : -1);
      return copy;
    case 3: {
      const word = EDGES[below(random, EDGES.length)] ?? 0;
      const start = Math.floor(at / 4) * 4;
      for (let i = 0; i < 4; i++) copy[start + i] = word >>> (8 * i);
      return copy;
    }
    case 4:
      return Uint8Array.from([...bytes.subarray(0, at), below(random, 256), ...bytes.subarray(at)]);
    case 5:
      return Uint8Array.from([
        ...bytes.subarray(0, at),
        ...bytes.subarray(at + 1 + below(random, 8)),
      ]);
    default: {
      const from = below(random, bytes.length);
      copy.set(bytes.subarray(from, from + Math.min(8, bytes.length - at)), at);
      return copy;
    }
  }
}

/** A mutation of the whole file, or of one section with all hashes made right again. */
function mutateFile(file: Uint8Array, random: Random): Uint8Array {
  if (random() < 0.2) return mutate(file, random);
  const parts = takeApart(file);
  for (let count = random() < 0.7 ? 1 : 3; count > 0; count--) {
    const section = parts.sections[MUTATED_SECTIONS[below(random, MUTATED_SECTIONS.length)] ?? 0];
    if (section !== undefined) section.bytes = mutate(section.bytes, random);
  }
  if (random() < 0.1)
    return putTogether(rehashData({ ...parts, data: mutate(parts.data, random) }));
  return putTogether(parts);
}

describe('mutated files', () => {
  test(`${MUTATIONS} of them are refused with a message, or read, printed and parsed`, () => {
    const random = seededRandom(20_240_601);
    const samples = fc.sample(arbitraryExecutable(), { seed: 11, numRuns: 30 });
    const files = [sampleExecutable(), ...samples].map((executable) =>
      executable.toBytes({ blockByteLength: 256 }),
    );
    const outcomes = { accepted: 0, format: 0, verify: 0 };
    for (let round = 0; round < MUTATIONS; round++) {
      const file = files[round % files.length] ?? new Uint8Array(0);
      const mutated = mutateFile(file, random);
      const executable = read(mutated, outcomes);
      if (executable === undefined) continue;
      outcomes.accepted++;
      expect(executable.functions.every((fn) => fn.registerCount <= mutated.length)).toBe(true);
      const bytes = executable.toBytes();
      expect(Executable.fromText(executable.toText()).toBytes()).toEqual(bytes);
    }
    // Each kind of outcome is common, so that readers and verifier are both reached.
    expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(MUTATIONS / 20);
  }, 300_000);
});

/** A word that may well stand in code: an opcode, a count, a short jump, an argument. */
function plausibleWord(random: Random): number {
  const value = below(random, 12);
  switch (below(random, 4)) {
    case 0:
      return (value - 6) >>> 0;
    case 1:
      return random() < 0.5 ? VOID_REGISTER : VM_REGISTER;
    default:
      return encodeArgument(ARGUMENT_KINDS[below(random, 4)] ?? 'register', value);
  }
}

/** Runs a function with every branch taken at random, and fails where a step is not safe. */
function walk(program: ExecutableData, fn: BytecodeFunction, random: Random): void {
  const end = fn.codeStart + fn.codeLength;
  const written = new Set<number>(fn.paramNames.keys());
  let pc = fn.codeStart;
  for (let step = 0; step < 100; step++) {
    if (pc < fn.codeStart || pc >= end) throw new Error(`walked to word ${pc}`);
    const { spec, operands, length } = decodeInstruction(program.code, pc, end);
    const next: number[] = spec.fallsThrough ? [pc + length] : [];
    const writes: number[] = [];
    for (const [position, word] of operands.entries()) {
      const { kind } = operandSpec(spec, position);
      if (kind === 'offset') next.push(jumpTarget(pc, word));
      else if (argumentKind(word) !== ArgumentKind.register || word >= VM_REGISTER) continue;
      else if (kind === 'destination') writes.push(word);
      else if (!written.has(word)) throw new Error(`read %${word} at word ${pc} before a write`);
    }
    for (const register of writes) written.add(register);
    const choice = next[below(random, next.length)];
    if (choice === undefined) return;
    pc = choice;
  }
}

test('mutated code is refused, or no walk through it reads an unwritten register', () => {
  const random = seededRandom(99);
  const samples = fc.sample(arbitraryExecutable(), { seed: 12, numRuns: 60 });
  const programs = [sampleExecutable(), ...samples];
  let accepted = 0;
  for (let round = 0; round < 20_000; round++) {
    const program = programs[round % programs.length] ?? sampleExecutable();
    const code = program.code.slice();
    for (let count = 1 + below(random, 2); count > 0; count--) {
      code[below(random, code.length)] = plausibleWord(random);
    }
    const mutated: ExecutableData = Object.assign(Object.create(program), { code });
    try {
      verifyExecutable(mutated);
    } catch (error) {
      if (error instanceof VerifyError) continue;
      throw error;
    }
    accepted++;
    for (const fn of mutated.functions) for (let i = 0; i < 4; i++) walk(mutated, fn, random);
  }
  expect(accepted).toBeGreaterThan(1000);
}, 300_000);

function read(
  bytes: Uint8Array,
  outcomes: { format: number; verify: number },
): Executable | undefined {
  try {
    return Executable.fromBytes(bytes);
  } catch (error) {
    if (error instanceof FormatError) outcomes.format++;
    else if (error instanceof VerifyError) outcomes.verify++;
    else throw error;
    if (!/: got .+, expected .+\./s.test(error.message)) throw error;
    return undefined;
  }
}
