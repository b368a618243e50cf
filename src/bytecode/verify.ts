import { requireKind } from '../core/check-options.ts';
import { VerifyError } from '../core/errors.ts';
import { brokenRule } from './broken-rule.ts';
import type { ExecutableData, FunctionEntry } from './executable.ts';
import { builtinSignature, BUILTIN_PREFIX } from './builtins.ts';
import { resolveEntry } from './resolve-entry.ts';
import type { CallTables } from './verify-call.ts';
import { verifyConstants } from './verify-constants.ts';
import { FlowBudget } from './verify-flow.ts';
import { verifyFunction } from './verify-function.ts';
import { verifyPrimitives } from './verify-primitives.ts';
import { verifyProgramTypes } from './verify-program-types.ts';
import { verifyShapePrograms } from './verify-shape-program.ts';
import { verifyName, verifyText, verifyUnique } from './verify-text.ts';
import { verifySignature } from './verify-types.ts';

/**
 * Checks a program once, so that the machine can trust it: every index, jump, arity, register,
 * shape slot, size and offset is within its bounds, and no register is read before it is written.
 * `docs/format.md` lists the rules and what is not promised. Time is about linear in the size of
 * the program. The source map is verified where it is read, by SourceMap. Throws VerifyError.
 */
export function verifyExecutable(program: ExecutableData): void {
  const isProgram = Array.isArray((Object(program) as Partial<ExecutableData>).functions);
  requireKind('verifyExecutable', ['an Executable', () => isProgram], ['what is', program]);
  verifyNames(program);
  verifyConstants(program);
  verifyPrimitives(program.primitives);
  const tables: CallTables = {
    functions: new Map(program.functions.map((fn) => [fn.name, fn])),
    primitives: new Map(program.primitives.map((primitive) => [primitive.name, primitive])),
    shapePrograms: verifyShapePrograms(program.shapePrograms),
  };
  verifyMetadata(program.metadata);
  verifyFunctionTable(program);
  verifyProgramTypes(program);
  let codeStart = 0;
  const budget = new FlowBudget();
  for (const fn of program.functions) {
    if (fn.codeStart !== codeStart || fn.codeLength < 1) {
      throw brokenRule(
        `function ${fn.name}`,
        `code of ${fn.codeLength} words from word ${fn.codeStart}`,
        `at least one word from word ${codeStart}, where the function before it ends`,
      );
    }
    codeStart += fn.codeLength;
    if (codeStart > program.code.length) break;
    verifySignature(fn);
    verifyFunction({ program, fn, tables, budget });
  }
  if (codeStart !== program.code.length) {
    throw brokenRule(
      'code',
      `${program.code.length} words`,
      `${codeStart}, the sum over all functions`,
    );
  }
}

function verifyNames({ functions, primitives }: ExecutableData): void {
  for (const { name, paramNames } of functions) {
    verifyName(name, 'function');
    for (const param of paramNames) verifyName(param, `parameter of function ${name}`);
    verifyUnique(paramNames, `parameters of function ${name}`);
  }
  for (const { name } of primitives) verifyName(name, 'primitive');
  const names = [...functions, ...primitives].map(({ name }) => name);
  verifyUnique(names, 'functions and primitives');
  const reserved = names.find((name) => name.startsWith(BUILTIN_PREFIX));
  if (reserved !== undefined) {
    throw brokenRule(
      `function ${reserved}`,
      'a name of a builtin',
      `a name that does not begin with ${BUILTIN_PREFIX}`,
    );
  }
}

function verifyFunctionTable({ functions, primitives, functionTable }: ExecutableData): void {
  const functionNames = new Set(functions.map(({ name }) => name));
  const primitiveNames = new Set(primitives.map(({ name }) => name));
  for (const entry of functionTable) verifyName(entry.name, 'function reference');
  verifyUnique(
    functionTable.map(({ name }) => name),
    'function references',
  );
  for (const [index, entry] of functionTable.entries()) {
    const expected = resolveEntry(entry.name, functionNames, primitiveNames).kind;
    const unknownBuiltin =
      entry.name.startsWith(BUILTIN_PREFIX) && builtinSignature(entry.name) === undefined;
    if (entry.kind === expected && !unknownBuiltin) continue;
    throw new VerifyError({
      where: `function reference ${index}`,
      got: `${entry.kind} ${entry.name}`,
      expected: unknownBuiltin ? 'a builtin of this version' : describeExpected(entry, expected),
      remedy: unknownBuiltin
        ? 'Update Weft, or see docs/builtins.md for those there are.'
        : undefined,
    });
  }
}

function describeExpected(entry: FunctionEntry, expected: FunctionEntry['kind']): string {
  if (expected !== 'packed') return `${expected}, since the executable has one of that name`;
  return `the name of a ${entry.kind} function of the executable, or kind packed`;
}

const METADATA_KEY = /^[A-Za-z_][A-Za-z0-9_.-]*$/;

function verifyMetadata(metadata: Readonly<Record<string, string>>): void {
  for (const [key, value] of Object.entries(metadata)) {
    if (!METADATA_KEY.test(key)) {
      throw brokenRule(
        'metadata',
        `key ${JSON.stringify(key)}`,
        'letters, digits, _, - and dots, not beginning with a digit',
      );
    }
    verifyText(value, `metadata ${key}`);
  }
}
