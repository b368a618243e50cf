import { requireKind } from '../../core/check-options.ts';
import { dtypeInfo } from '../../core/tensor/dtype.ts';
import { VerifyError } from '../../core/errors.ts';
import { elementCount, type Shape } from '../../core/tensor/shape.ts';
import { brokenRule } from './broken-rule.ts';
import { BUILTIN_PREFIX, builtinSignature } from '../builtins.ts';
import { alignTensor } from '../file/data-layout.ts';
import type {
  DataType,
  ExecutableData,
  FullType,
  FunctionEntry,
  NamedFunctionType,
  ProgramTypes,
  TensorConstant,
} from '../executable.ts';
import { resolveEntry } from '../build/resolve-entry.ts';
import type { CallTables } from './verify-call.ts';
import { FlowBudget } from './verify-flow.ts';
import { verifyFunction } from './verify-function.ts';
import { verifyPrimitives } from './verify-primitives.ts';
import { verifyShapePrograms } from './verify-shape-program.ts';
import { verifyName, verifyText, verifyUnique } from './verify-text.ts';
import { verifyRank, verifySignature, verifyTensorType } from './verify-types.ts';

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

/** Checks names, counts, tags and mentions of the full types of a program, if it has any. */
function verifyProgramTypes(program: ExecutableData): void {
  const { types, functions, functionTable } = program;
  if (types === undefined) return;
  const dataTypes = new Map(types.dataTypes.map((type) => [type.name, type]));
  verifyUnique(
    types.dataTypes.map(({ name }) => name),
    'data types',
  );
  verifyUnique(constructorsOf(types), 'constructors of data types');
  for (const type of types.dataTypes) verifyDataType(type, dataTypes);
  const known = new Map(functions.map((fn) => [fn.name, fn.paramNames.length]));
  verifyFunctionTypes('function', types.functions, dataTypes);
  for (const { name, params } of types.functions) {
    const count = known.get(name);
    if (count === params.length) continue;
    const expected = count === undefined ? 'a function of the executable' : `${count}`;
    throw brokenRule(`type of function ${name}`, `${params.length} parameters`, expected);
  }
  const packed = functionTable.filter(({ kind }) => kind === 'packed').map(({ name }) => name);
  verifyFunctionTypes('packed function', types.packed, dataTypes);
  for (const { name } of types.packed) {
    if (packed.includes(name)) continue;
    throw brokenRule('types', `packed function ${name}`, 'one that the executable calls');
  }
}

function constructorsOf({ dataTypes }: ProgramTypes): string[] {
  return dataTypes.flatMap(({ constructors }) => constructors.map(({ name }) => name));
}

type DataTypes = ReadonlyMap<string, DataType>;

function verifyDataType({ name, params, constructors }: DataType, dataTypes: DataTypes): void {
  const where = `data type ${name}`;
  verifyName(name, 'data type');
  verifyUnique(params, `type parameters of ${where}`);
  verifyUnique(
    constructors.map(({ tag }) => String(tag)),
    `tags of ${where}`,
  );
  for (const constructor of constructors) {
    verifyName(constructor.name, `constructor of ${where}`);
    for (const field of constructor.fields) {
      verifyFullType(field, { where, dataTypes, typeParams: params });
    }
  }
}

function verifyFunctionTypes(
  what: string,
  functions: readonly NamedFunctionType[],
  dataTypes: DataTypes,
): void {
  verifyUnique(
    functions.map(({ name }) => name),
    `types of ${what}s`,
  );
  for (const { name, params, result } of functions) {
    const context = { where: `type of ${what} ${name}`, dataTypes, typeParams: undefined };
    for (const type of [...params, result]) verifyFullType(type, context);
  }
}

interface TypeContext {
  readonly where: string;
  readonly dataTypes: DataTypes;
  /** Undefined where any may stand: those of a polymorphic function. */
  readonly typeParams: readonly string[] | undefined;
}

function verifyFullType(root: FullType, { where, dataTypes, typeParams }: TypeContext): void {
  const stack = [root];
  for (let type = stack.pop(); type !== undefined; type = stack.pop()) {
    if (type.kind === 'tensor') verifyTensorType(type, where);
    else if (type.kind === 'opaque') verifyName(type.name, `opaque type of ${where}`);
    else if (type.kind === 'tuple') stack.push(...type.fields);
    else if (type.kind === 'function') stack.push(...type.params, type.result);
    else if (type.kind === 'type-param' && typeParams?.includes(type.name) === false) {
      throw brokenRule(where, `type parameter ${type.name}`, typeParams.join(', ') || 'none');
    } else if (type.kind === 'adt') {
      const count = dataTypes.get(type.name)?.params.length;
      if (count !== type.args.length) {
        const expected = count === undefined ? 'a data type of the executable' : `${count}`;
        throw brokenRule(where, `${type.name} of ${type.args.length} types`, expected);
      }
      stack.push(...type.args);
    }
  }
}

/**
 * Checks every constant, and that the tensors fill the data section in order, each at the next
 * multiple of 256 after the one before it.
 */
function verifyConstants({ constants, dataByteLength }: ExecutableData): void {
  let end = 0;
  for (const [index, constant] of constants.entries()) {
    const where = `constant ${index}`;
    if (constant.kind === 'tensor') {
      verifyTensor(constant, alignTensor(end), where);
      end = constant.byteOffset + constant.byteLength;
      if (end > dataByteLength) {
        throw brokenRule(
          where,
          `a tensor that ends at byte ${end} of the data section`,
          `at most ${dataByteLength}, its length`,
        );
      }
    } else if (constant.kind === 'shape') {
      verifyShape(constant.value, where);
    } else if (constant.kind === 'string') {
      verifyText(constant.value, where);
    } else if (constant.kind === 'int') {
      verifyInteger(constant.value, where);
    }
  }
  if (end !== dataByteLength) {
    throw brokenRule(
      'data section',
      `${dataByteLength} bytes`,
      `${end}, where the last tensor ends`,
    );
  }
}

function verifyTensor(constant: TensorConstant, byteOffset: number, where: string): void {
  verifyShape(constant.shape, where);
  const byteLength = dtypeInfo(constant.dtype).byteLength;
  const wholeByteLength = elementCount(constant.shape) * byteLength;
  if (!Number.isSafeInteger(wholeByteLength)) {
    throw brokenRule(where, `a tensor of ${wholeByteLength} bytes`, 'less than 2^53');
  }
  const expected = constant.isSplat ? byteLength : wholeByteLength;
  if (constant.byteOffset !== byteOffset || constant.byteLength !== expected) {
    throw new VerifyError({
      where,
      got: `${constant.byteLength} bytes at ${constant.byteOffset} of the data section`,
      expected: `${expected} at ${byteOffset}`,
      remedy: 'Tensors follow each other in the order of the constants, aligned to 256 bytes.',
    });
  }
}

function verifyShape(shape: Shape, where: string): void {
  verifyRank(shape.length, where);
  for (const dim of shape) {
    verifyInteger(dim, where);
    if (dim < 0) throw brokenRule(where, `dimension ${dim}`, 'one from 0 up');
  }
}

function verifyInteger(value: number, where: string): void {
  if (Number.isSafeInteger(value) && !Object.is(value, -0)) return;
  throw brokenRule(where, `${value}`, 'a safe integer');
}
